"""What a program recorded of its model's code, and who is told of an operator while it is replayed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TypeAlias

from exporter.base.readers.base import map_file
from exporter.base.readers.callstack import ATTRIBUTE, line_of
from exporter.base.readers.program import Block, Operator
from exporter.base.readers.wire import Field, root
from exporter.export.sources.in_place import reads
from exporter.export.sources.values import Value

#: Runs an operator: what gives its results, when it is called.
Run: TypeAlias = Callable[[], Sequence[Value]]
#: Runs an operator of the main block in the place of the replay; it is given the values that the operator reads.
Watcher: TypeAlias = Callable[[Operator, Sequence[Value], Run], Sequence[Value]]

#: What an operator is called in a legacy program only: `elementwise_add` is `add` in PIR, `matmul_v2` is `matmul`.
_PREFIX, _SUFFIX = re.compile(r"^(?:elementwise|reduce)_"), re.compile(r"(?:_v?\d|_)$")

#: The attribute of an error that holds where in a program it arose.
_PLACES = "exporter_places"

_watchers: list[Watcher] = []


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Inside the block, each operator of a main block that is replayed goes through `watcher`."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.pop()


def run_watched(operator: Operator, values: Mapping[int, Value], run: Run) -> Sequence[Value]:
    """Run an operator, through whoever watches; what runs inside a branch or loop is part of that operator."""
    if not _watchers:
        return run()
    watcher = _watchers.pop()
    try:
        return watcher(operator, [values[number] for number in reads(operator) if number in values], run)
    finally:
        _watchers.append(watcher)


def note_place(error: BaseException, place: str) -> None:
    """Note on an error where in a program it arose: the innermost operator first, then the file."""
    vars(error).setdefault(_PLACES, []).append(place)


def noted_place(error: BaseException) -> str:
    """Return where in which program an error arose; "" where it arose in no program that is a file."""
    places: list[str] = vars(error).get(_PLACES, [])
    return ", ".join(dict.fromkeys((*places[-1:], *places[:1])))


def with_recorded_lines(block: Block, pdmodel: Path) -> Block:
    """Return the PIR program that Paddle translated from a `.pdmodel`, with the lines that the file recorded.

    The translation drops them and adds operators of its own, so those of the same name are paired in their order; an
    operator that finds no partner has no line.

    Raises:
        BundleError: the file is damaged.
    """
    recorded = list(_recorded(pdmodel))
    if not any(line for _, line in recorded):
        return block
    theirs, ours = (
        [plain_name(kind) for kind, _ in recorded],
        [plain_name(operator.name) for operator in block.operators],
    )
    operators = list(block.operators)
    for first, at, count in SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks():
        for step in range(count):
            operators[at + step] = replace(operators[at + step], line=recorded[first + step][1])
    return replace(block, operators=tuple(operators))


def plain_name(kind: str) -> str:
    """Return what an operator is called in PIR and in a legacy program alike."""
    return _SUFFIX.sub("", _PREFIX.sub("", kind))


def _recorded(path: Path) -> Iterator[tuple[str, str]]:
    """Give the kind and the line of each operator in the main block: ProgramDesc.blocks = 1, BlockDesc.ops = 4."""
    blocks = [part for part in root(map_file(path), str(path)) if part.number == 1]
    for part in blocks[0].message() if blocks else ():
        if part.number == 4:
            yield _operator(part)


def _operator(part: Field) -> tuple[str, str]:
    """OpDesc: type = 3, attrs = 4 (name = 1, strings = 8)."""
    kind, frames = "", list[str]()
    for inner in part.message():
        if inner.number == 3:
            kind = inner.text()
        elif inner.number == 4:
            attribute = list(inner.message())
            if any(field.number == 1 and field.text() == ATTRIBUTE for field in attribute):
                frames = [field.text() for field in attribute if field.number == 8]
    return kind, line_of(frames)
