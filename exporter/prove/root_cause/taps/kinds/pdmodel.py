"""Tap a `.pdmodel`: fetch its intermediate variables."""

from __future__ import annotations

from pathlib import Path

from exporter.base.readers.base import map_file
from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.base.readers.wire import Field, Message, root
from exporter.prove.root_cause.taps.base import Tap, field, link_others, varint

_MODEL = "model.pdmodel"
#: VarType.Type of a plain tensor (`framework.proto`).
_DENSE = 7


def tap(folder: Path, into: Path) -> tuple[str, ...]:
    """Append a fetch operator for every tensor that some operator of the root block writes and another reads.

    A variable that is written twice (in place) shows its last value.
    """
    content = map_file(folder / _MODEL)
    where = str(folder / _MODEL)
    blocks = [part for part in root(content, where) if part.number == 1]
    main = blocks[0]
    outputs = [one.name for one in read_pdmodel(folder / _MODEL).outputs]
    dense = {name for part in main.message() if part.number == 3 for name in _dense(part.message())}
    operators = [_operator(part.message()) for part in main.message() if part.number == 4]
    read = {name for kind, reads, _ in operators for name in reads if kind != "fetch"}
    read |= {name for block in blocks[1:] for part in block.message() if part.number == 4 for name in _reads(part)}
    written = dict.fromkeys(name for kind, _, writes in operators for name in writes if kind != "feed")
    taps = [name for name in written if name in dense & read and name not in outputs]
    extra = b"".join(field(4, _fetch(name, len(outputs) + index)) for index, name in enumerate(taps))
    head = main.start - len(varint(main.stop - main.start)) - 1  # before the tag and the length of block 0
    block = field(1, content[main.start : main.stop] + extra)
    (into / _MODEL).write_bytes(content[:head] + block + content[main.stop :])
    link_others(folder, into, _MODEL)
    return (*outputs, *taps)


def _dense(variable: Message) -> list[str]:
    """The name of a variable that is a plain tensor and no parameter."""
    name, kind, persistable = "", -1, False
    for part in variable:
        if part.number == 1:
            name = part.text()
        elif part.number == 2:
            kind = next((inner.integer() for inner in part.message() if inner.number == 1), -1)
        elif part.number == 3:
            persistable = bool(part.integer())
    return [name] if kind == _DENSE and not persistable else []


def _operator(operator: Message) -> tuple[str, list[str], list[str]]:
    kind, reads, writes = "", list[str](), list[str]()
    for part in operator:
        if part.number == 3:
            kind = part.text()
        elif part.number in (1, 2):
            (reads if part.number == 1 else writes).extend(
                inner.text() for inner in part.message() if inner.number == 2
            )
    return kind, reads, writes


def _reads(operator: Field) -> list[str]:
    return _operator(operator.message())[1]


def _fetch(name: str, column: int) -> bytes:
    """An OpDesc: input X, output Out (the list that all fetches fill), the type, and its place in the list."""
    reads = field(1, field(1, b"X") + field(2, name.encode()))
    writes = field(2, field(1, b"Out") + field(2, b"fetch"))
    place = field(4, field(1, b"col") + varint(2 << 3) + varint(0) + varint(3 << 3) + varint(column))
    return reads + writes + field(3, b"fetch") + place


plugin: Tap = tap
