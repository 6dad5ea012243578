"""Which recorded cases a kit carries: all of them, or the few that prove most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from exporter.base.errors import UsageError
from exporter.base.numbers.golden import promised


class Described(Protocol):
    """What the choice needs of a case; the manifest's cases and the goldens have it alike."""

    @property
    def name(self) -> str:
        """Its name, as `batch=2:large`."""

    @property
    def dims(self) -> Mapping[str, int]:
        """The size of each named dim."""


C = TypeVar("C", bound=Described)


@dataclass(frozen=True)
class Wanted:
    """How a kit is narrowed: to so many cases (0: all), and to cases of these sizes."""

    count: int = 0
    sizes: Mapping[str, int] | None = None

    def __str__(self) -> str:
        parts = [f"only {self.count} of its cases"] if self.count else []
        sizes = ", ".join(f"{name}={size}" for name, size in (self.sizes or {}).items())
        return "; ".join([*parts, *([f"only the sizes {sizes}"] if sizes else [])])


def chosen(recorded: Sequence[C], wanted: Wanted) -> list[tuple[int, C]]:
    """Return the cases of a kit with their numbers in the bundle, in the bundle's order.

    Of a few, cases that the spec promises come before those that probe, other sizes before sizes that are there
    already, and small ones before large ones. The choice hangs on nothing but the bundle and `wanted`, so that whoever
    judges comes to the same.

    Raises:
        UsageError: no case has these sizes, or a size is of no dim.
    """
    left = [(number, case) for number, case in enumerate(recorded) if _has(case, wanted.sizes or {})]
    if not left:
        known = sorted({f"{name}={size}" for case in recorded for name, size in case.dims.items()})
        raise UsageError("no recorded case has these sizes", where="--dim", hint=f"give some of {', '.join(known)}")
    if not wanted.count or wanted.count >= len(left):
        return left
    taken: list[tuple[int, C]] = []
    sizes: set[tuple[tuple[str, int], ...]] = set()
    while len(taken) < wanted.count:
        best = min(left, key=lambda pair: (not promised(pair[1].name), _sizes(pair[1]) in sizes, _amount(pair)))
        left.remove(best)
        taken.append(best)
        sizes.add(_sizes(best[1]))
    return sorted(taken, key=lambda pair: pair[0])


def _has(case: Described, sizes: Mapping[str, int]) -> bool:
    return all(case.dims.get(name) == size for name, size in sizes.items())


def _sizes(case: Described) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(case.dims.items()))


def _amount(pair: tuple[int, Described]) -> tuple[int, int]:
    return math.prod(pair[1].dims.values()), pair[0]


def read_sizes(texts: Sequence[str]) -> dict[str, int]:
    """Read `--dim batch=1` options.

    Raises:
        UsageError: one is no name and number.
    """
    sizes = {}
    for text in texts:
        name, _, size = text.partition("=")
        if not name or not size.isdecimal():
            raise UsageError(f"'{text}' is no size", where="--dim", hint="write it as batch=1")
        sizes[name] = int(size)
    return sizes
