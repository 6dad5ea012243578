"""The operators of an ONNX or `.pdmodel` file with their numbers, in the order of the file, without onnx or Paddle."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.readers.base import map_file
from exporter.base.readers.wire import FIXED32, Field, Message, root


@dataclass(frozen=True)
class Node:
    """One operator, with its attributes that hold one number.

    `inputs` and `outputs` are values by slot; ONNX has no slots, so theirs are "0", "1" and so on. `layer` is the
    sublayer that it was written for, where the writer recorded it.
    """

    kind: str
    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, float]
    layer: str = ""

    def taken(self, slot: str) -> str:
        """The first value in an input slot; empty where there is none."""
        return next(iter(self.inputs.get(slot, ())), "")

    def given(self) -> Iterator[str]:
        """Every value that it writes."""
        return (name for names in self.outputs.values() for name in names)


def nodes(path: Path) -> tuple[Node, ...]:
    """The operators of the main graph or block, by the file's suffix.

    Raises:
        BundleError: the file is damaged.
    """
    top = root(map_file(path), str(path))
    if path.suffix == ".onnx":
        graphs = [part.message() for part in top if part.number == 7]  # ModelProto.graph
        return tuple(_onnx(part.message()) for graph in graphs[:1] for part in graph if part.number == 1)
    blocks = [part.message() for part in top if part.number == 1]  # ProgramDesc.blocks
    return tuple(_paddle(part.message()) for block in blocks[:1] for part in block if part.number == 4)


def _onnx(message: Message) -> Node:
    """NodeProto: input = 1, output = 2, op_type = 4, attribute = 5 (name = 1, f = 2, i = 3), metadata_props = 9."""
    values: dict[int, list[str]] = {1: [], 2: []}
    kind, attributes, layer = "", dict[str, float](), ""
    for part in message:
        if part.number in values:
            values[part.number].append(part.text())
        elif part.number == 4:
            kind = part.text()
        elif part.number == 5:
            attributes |= _number(part.message(), name=1, numbers=(2, 3))
        elif part.number == 9:
            layer = _entry(part.message()).get("sublayer", layer)
    inputs, outputs = ({str(at): (name,) for at, name in enumerate(values[side])} for side in (1, 2))
    return Node(kind, inputs, outputs, attributes, layer)


def _entry(message: Message) -> dict[str, str]:
    """StringStringEntryProto: key = 1, value = 2."""
    texts = {part.number: part.text() for part in message if part.number in (1, 2)}
    return {texts.get(1, ""): texts.get(2, "")}


def _paddle(message: Message) -> Node:
    """OpDesc: inputs = 1, outputs = 2, type = 3, attrs = 4 (name = 1, i = 3, f = 4, b = 10)."""
    slots: dict[int, dict[str, tuple[str, ...]]] = {1: {}, 2: {}}
    kind, attributes = "", dict[str, float]()
    for part in message:
        if part.number in slots:
            texts = [(inner.number, inner.text()) for inner in part.message()]
            slot = next((text for number, text in texts if number == 1), "")
            slots[part.number][slot] = tuple(text for number, text in texts if number == 2)
        elif part.number == 3:
            kind = part.text()
        elif part.number == 4:
            attributes |= _number(part.message(), name=1, numbers=(3, 4, 10))
    return Node(kind, slots[1], slots[2], attributes)


def _number(message: Message, name: int, numbers: tuple[int, ...]) -> dict[str, float]:
    """An attribute, if it holds one number."""
    title, value = "", None
    for part in message:
        if part.number == name:
            title = part.text()
        elif part.number in numbers:
            value = _value(part)
    return {} if value is None else {title: value}


def _value(part: Field) -> float:
    if part.kind == FIXED32:
        return float(struct.unpack("<f", part.owner.content[part.start : part.stop])[0])
    return part.integer()
