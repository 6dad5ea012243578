"""Which value of one program stands for which of another, where both were written from the same model.

Operators are paired by their names in their order. One that is in a single program alone, since somebody put it in,
has no partner: what it gives stands for what its reader's partner reads there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from exporter.base.readers.base import map_file
from exporter.base.readers.program import Operator
from exporter.base.readers.wire import root
from exporter.export.sources.recorded import plain_name

#: What is no computation: it names what is there already, and its order is the writer's choice.
_NAMED = ("parameter", "data", "feed", "builtin.parameter")


def partners(sound: Sequence[Operator], file: Sequence[Operator]) -> list[tuple[Operator, Operator]]:
    """Pair the operators of a sound program with those of a file, each with the one that has its place there."""
    ours, theirs = ([operator for operator in side if operator.name not in _NAMED] for side in (sound, file))
    words = [[_word(operator) for operator in side] for side in (ours, theirs)]
    return [(ours[first], theirs[at]) for first, at in aligned(words[0], words[1])]


def counterparts(sound: Sequence[Operator], file: Sequence[Operator]) -> dict[int, int]:
    """Map values of a file to those of a sound program, by their numbers; inputs and parameters are left out."""
    pairs = partners(sound, file)
    stands_for = {
        value.id: right.id for ours, theirs in pairs for right, value in zip(ours.results, theirs.results, strict=False)
    }
    computed = {value.id for operator in file if operator.name not in _NAMED for value in operator.results}
    for ours, theirs in pairs:
        if len(ours.operands) == len(theirs.operands):
            for right, number in zip(ours.operands, theirs.operands, strict=True):
                if number in computed and right:
                    stands_for.setdefault(number, right)
    return stands_for


def variables(pdmodel: Path, operators: Sequence[Operator]) -> dict[int, tuple[str, ...]]:
    """Name what translated operators of a `.pdmodel` put out by the variables of the file, by their index."""
    written = [(plain_name(kind), outputs) for kind, outputs in _written(pdmodel)]
    pairs = aligned([kind for kind, _ in written], [plain_name(operator.name) for operator in operators])
    return {operators[at].index: written[first][1] for first, at in pairs if written[first][1]}


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pair the places of names that are alike, and of runs of others between them that are as long on both sides."""
    for _, first, stop, at, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if stop - first == end - at:
            yield from zip(range(first, stop), range(at, end), strict=True)


def _written(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The kind of each operator of the main block and its outputs: OpDesc type = 3, outputs = 2 (arguments = 2)."""
    block = next(part for part in root(map_file(path), str(path)) if part.number == 1)
    for part in block.message():
        if part.number == 4:
            fields = list(part.message())
            kind = next(field.text() for field in fields if field.number == 3)
            outputs = [
                name.text() for field in fields if field.number == 2 for name in field.message() if name.number == 2
            ]
            if kind not in ("feed", "fetch"):
                yield kind, tuple(outputs)


def _word(operator: Operator) -> str:
    """Name what must be alike in a pair: an operator that writes in place is the one that does not."""
    name = re.sub(r"_$", "", operator.name)
    return f"fetch {operator.attributes.get('name', operator.attributes.get('col'))}" if name == "fetch" else name
