"""The table of statements (`statements/*.txt`) that networks are put together from, and how its holes are filled.

    linear | x:float[2+]
        self.$m = nn.Linear($(x -1), $(2..6))
        --
        $r = self.$m($x)

A hole of the head is a value that stands before: its kind, the ranks that it may have, and `~y` for one of y's dtype
and shape, `^y` for one that broadcasts with y. In the code `$x` is its name, `$r` a new name, `$m` a new sublayer,
buffer or parameter. `$(x -1)` is a size that never varies, `$(axis x)` an axis, `$(perm x)` an order of its axes,
`$(2..6)` a number, `$(0.1..2.0)` a number that is not whole, `$(a|b)` a choice; the same words give the same draw in a
statement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "statements"
_HOLE = re.compile(r"(\w+):(\w+)(?:\[(\d)(\+|-\d)?\])?(?:([~^])(\w+))?$")
_DRAW = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)|\$(\w+)")
_NUMBERS = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)$")
KINDS: Mapping[str, tuple[str, ...]] = {
    "float": ("float32", "float64"),
    "double": ("float64",),
    "half": ("float16",),
    "single": ("float32",),
    "real": ("float16", "float32", "float64"),
    "int": ("int32", "int64"),
    "long": ("int64",),
    "bool": ("bool",),
    "complex": ("complex64",),
    "number": ("float32", "float64", "int32", "int64"),
    "any": ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "bool", "uint8"),
}
#: Sizes of a value in each of the sizings, axis by axis.
Shapes = tuple[tuple[int, ...], ...]


class CannotFill(Exception):
    """No value that stands before fits a hole."""


@dataclass(frozen=True)
class Hole:
    """A value that a statement reads."""

    name: str
    dtypes: tuple[str, ...]
    ranks: range
    relation: str
    other: str


@dataclass(frozen=True)
class Statement:
    """A kind of step: what it reads, what it puts into the constructor, and its lines in `forward`."""

    family: str
    name: str
    holes: tuple[Hole, ...]
    init: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def weight(self) -> float:
        """How often it is drawn: by the square root of the choices that it offers."""
        choices = [text.count("|") + 1 for text, _ in _DRAW.findall("\n".join(self.lines)) if "|" in text]
        return float(max([1, *choices]) ** 0.5)


@dataclass(frozen=True)
class Known:
    """What is known of a value: its dtype, and its shape in each sizing."""

    dtype: str
    shapes: Shapes

    @property
    def rank(self) -> int:
        """The number of its axes."""
        return len(self.shapes[0])

    def size(self, axis: int) -> int:
        """The size of an axis that never varies.

        Raises:
            CannotFill: it varies.
        """
        sizes = {shape[axis] for shape in self.shapes}
        if len(sizes) != 1:
            raise CannotFill
        return sizes.pop()


def statements() -> tuple[Statement, ...]:
    """Read the whole table."""
    return tuple(
        _statement(path.stem, block)
        for path in sorted(HERE.glob("*.txt"))
        for block in re.split(r"\n(?=\w+ \|)", path.read_text().strip())
    )


def _statement(family: str, block: str) -> Statement:
    head, _, code = block.partition("\n")
    name, _, holes = (part.strip() for part in head.partition("|"))
    lines = [line.removeprefix("    ") for line in code.rstrip().splitlines()]
    cut = lines.index("--") if "--" in lines else -1
    return Statement(
        family, name, tuple(map(_hole, holes.split())), tuple(lines[: max(cut, 0)]), tuple(lines[cut + 1 :])
    )


def _hole(text: str) -> Hole:
    match = _HOLE.match(text)
    if not match:
        raise ValueError(f"cannot read the hole '{text}'")
    name, kind, low, more, relation, other = match.groups()
    least = int(low or 0)
    most = 6 if low is None or more == "+" else int(more[1:]) if more else least
    return Hole(name, KINDS[kind], range(least, most + 1), relation or "", other or "")


def chosen(
    holes: Sequence[Hole], values: Mapping[str, Known], draw: random.Random, made: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Draw a value for each hole, late ones rather than early ones, so that networks grow deep.

    `made` has the values of some holes.

    Raises:
        CannotFill: nothing fits.
    """
    names = dict(made or {})
    for hole in holes:
        if hole.name in names:
            continue
        fitting = [name for name, value in values.items() if _fits(hole, value, values.get(names.get(hole.other, "")))]
        if not fitting:
            raise CannotFill
        fitting = [name for name in fitting if name not in names.values()] or fitting
        weights = [1.0 + 3.0 * place / len(fitting) for place in range(len(fitting))]
        names[hole.name] = draw.choices(fitting, weights)[0]
    return names


def _fits(hole: Hole, value: Known, other: Known | None) -> bool:
    if value.dtype not in hole.dtypes or value.rank not in hole.ranks:
        return False
    if not hole.relation or other is None:
        return True
    if value.dtype != other.dtype:
        return False
    if hole.relation == "~":
        return value.shapes == other.shapes
    pairs = zip(value.shapes, other.shapes, strict=True)
    return all(
        left == right or 1 in (left, right)
        for mine, theirs in pairs
        for left, right in zip(reversed(mine), reversed(theirs), strict=False)
    )


@dataclass
class Filling:
    """Fills the holes of one statement: `$(…)` by what is drawn, new names by counters that go on."""

    values: Mapping[str, Known]
    names: dict[str, str]
    draw: random.Random
    counts: dict[str, int]

    def fill(self, line: str) -> str:
        """The line of Python.

        Raises:
            CannotFill: it asks for a size that varies.
        """
        return _DRAW.sub(lambda match: self._word(match[1] or match[2], bool(match[1])), line)

    def _word(self, text: str, drawn: bool) -> str:
        if text not in self.names:
            self.names[text] = self._drawn(text) if drawn else self._new(text)
        return self.names[text]

    def _new(self, text: str) -> str:
        letter = "m" if text.startswith("m") else "v"
        self.counts[letter] = self.counts.get(letter, 0) + 1
        return f"{letter}{self.counts[letter]}"

    def _drawn(self, text: str) -> str:
        if match := _NUMBERS.match(text):
            low, high = match.groups()
            if "." in low or "." in high:
                return f"{self.draw.uniform(float(low), float(high)):.2f}"
            return str(self.draw.randint(int(low), int(high)))
        if "|" in text:
            return self.draw.choice(text.split("|"))
        word, _, rest = text.partition(" ")
        if word in self.names:
            return str(self.values[self.names[word]].size(int(rest)))
        rank = self.values[self.names[rest.split()[0]]].rank
        if word == "axis" and rank:
            return str(self.draw.randrange(-rank, rank))
        if word == "perm":
            order = [*range(rank)]
            self.draw.shuffle(order)
            return str(order)
        if word == "divisor":
            size = self.values[self.names[rest.split()[0]]].size(int(rest.split()[1]))
            return str(self.draw.choice([part for part in range(1, size + 1) if size % part == 0]))
        raise CannotFill
