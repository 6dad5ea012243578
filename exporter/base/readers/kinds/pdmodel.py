"""`.pdmodel`: a Paddle ProgramDesc (`framework.proto`), read without Paddle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, damaged, map_file
from exporter.base.readers.framework import tensor_desc
from exporter.base.readers.whole_legacy import LegacyBlock, LegacyOperator, refuse_broken_legacy
from exporter.base.readers.wire import Field, Message, root
from exporter.base.tensors import TensorSpec

_FEED, _FETCH = "feed", "fetch"
_LOD_TENSOR = 7


@dataclass
class _Variable:
    name: str = ""
    kind: int = -1
    tensor: tuple[str, tuple[int, ...]] | None = None
    persistable: bool = False


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of a program; its weights are the persistable variables, declared and sorted by name.

    Raises:
        BundleError: not a ProgramDesc, or a feed or fetch of a variable that is no tensor.
    """
    variables: dict[str, _Variable] = {}
    blocks: list[LegacyBlock] = []
    versions: dict[str, int | str] = {}
    operator_versions: dict[str, int] = {}
    for part in root(content, where):
        if part.number == 1:
            blocks.append(_block(part.message(), variables))
        elif part.number == 4:
            versions["program"] = _single_integer(part.message())
        elif part.number == 5:
            operator_versions |= dict(_operator_versions(part.message()))
    operators = [operator for block in blocks for operator in block.operators]
    if not operators:
        raise damaged("no operators: not a Paddle program", where)
    feeds = sorted((one for one in operators if one.kind == _FEED), key=lambda one: one.column)
    fetches = sorted((one for one in operators if one.kind == _FETCH), key=lambda one: one.column)
    if feeds:  # of a program without inputs it is said that it has none
        tensors = (one for one in variables.values() if one.kind == _LOD_TENSOR and not one.persistable)
        refuse_broken_legacy(blocks, frozenset(one.name for one in tensors), where)
    kinds = Counter(one.kind for one in operators if one.kind not in (_FEED, _FETCH))
    # Paddle lists every operator that ever changed; those that are here tell something.
    used = {f"operator {kind}": operator_versions[kind] for kind in sorted(kinds) if kind in operator_versions}
    return ModelFacts(
        "pdmodel",
        len(content),
        inputs=tuple(_spec(name, variables, where) for one in feeds for name in one.writes),
        outputs=tuple(_spec(name, variables, where) for one in fetches for name in one.reads),
        operators=dict(sorted(kinds.items())),
        writer=_writer(versions.get("program", 0)),
        versions=versions | used,
        weights=tuple(
            Weight(one.name, *one.tensor)
            for _, one in sorted(variables.items(), key=lambda item: item[0].encode())
            if one.persistable and one.kind == _LOD_TENSOR and one.tensor
        ),
    )


def _block(message: Message, variables: dict[str, _Variable]) -> LegacyBlock:
    block = LegacyBlock()
    for part in message:
        if part.number == 2:
            block.parent = part.integer()
        elif part.number == 3:
            variable = _variable(part.message())
            variables.setdefault(variable.name, variable)  # the root block comes first, and its meaning holds
            block.declared.append(variable.name)
        elif part.number == 4:
            block.operators.append(_operator(part.message()))
    return block


def _variable(message: Message) -> _Variable:
    variable, described = _Variable(), None
    for part in message:
        if part.number == 1:
            variable.name = part.text()
        elif part.number == 2:
            for inner in part.message():
                if inner.number == 1:
                    variable.kind = inner.integer()
                elif inner.number == 3:  # LoDTensorDesc, whose field 1 is the TensorDesc
                    described = next((field.message() for field in inner.message() if field.number == 1), None)
        elif part.number == 3:
            variable.persistable = bool(part.integer())
    if described is not None:
        variable.tensor = tensor_desc(described, computed=not variable.persistable)
    return variable


def _operator(message: Message) -> LegacyOperator:
    operator = LegacyOperator()
    for part in message:
        if part.number == 1:
            operator.reads += _arguments(part)
        elif part.number == 2:
            operator.writes += _arguments(part)
        elif part.number == 3:
            operator.kind = part.text()
        elif part.number == 4:
            name, value, block = _integer_attribute(part.message())
            if name == "col":
                operator.column = value
            if block is not None:
                operator.blocks.append(block)
    return operator


def _arguments(slot: Field) -> list[str]:
    return [part.text() for part in slot.message() if part.number == 2]


def _integer_attribute(message: Message) -> tuple[str, int, int | None]:
    """The name of an attribute, its number (0 where it holds none), and the index of the block that it means."""
    name, value, block = "", 0, None
    for part in message:
        if part.number == 1:
            name = part.text()
        elif part.number == 3:
            value = part.integer()
        elif part.number == 12:
            block = part.integer()
    return name, value, block


def _operator_versions(message: Message) -> list[tuple[str, int]]:
    pairs = []
    for pair in message:
        name, number = "", 0
        for part in pair.message():
            if part.number == 1:
                name = part.text()
            elif part.number == 2:
                number = _single_integer(part.message())
        pairs.append((name, number))
    return pairs


def _single_integer(message: Message) -> int:
    return next((part.integer() for part in message if part.number == 1), 0)


def _spec(name: str, variables: dict[str, _Variable], where: str) -> TensorSpec:
    variable = variables.get(name)
    if variable is None or variable.tensor is None:
        raise damaged(f"an input or output {name!r} that is no tensor of the program", where)
    return TensorSpec(name, *variable.tensor)


def _writer(version: int | str) -> str:
    """3003001 is 3.3.1; 0 is a build of Paddle from its sources."""
    number = int(version)
    return f"Paddle {number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}" if number > 0 else "Paddle"


def read_pdmodel(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".pdmodel",), facts)
