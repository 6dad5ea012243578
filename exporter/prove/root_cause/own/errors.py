"""From values to own errors: each operator against eager float32, by what the same operator is off from float64."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from exporter.base.tensors import Array
from exporter.prove.root_cause.operators.compare import distance
from exporter.prove.verdict.blame import BEYOND


@dataclass(frozen=True)
class Right:
    """The right values of a program by their numbers, and what float64 makes of right inputs, where it can."""

    values: Mapping[int, Array]
    exact: Mapping[int, Array]

    def off(self, number: int, value: Array | None) -> float | None:
        """The error ratio of a value; None where nothing tells it."""
        if value is None or number not in self.values:
            return None
        off = distance(self.values[number], self.exact.get(number), value)
        return None if off is None else BEYOND if math.isnan(off) else min(off, BEYOND)


def worst(ratios: Iterable[float | None]) -> float | None:
    """The largest of those that are known."""
    return max((off for off in ratios if off is not None), default=None)


def makers(reads: Iterable[str], behind: Mapping[str, tuple[str, ...]], shown: Mapping[str, int]) -> tuple[int, ...]:
    """The operators, by their places in `shown`, whose values come in; values that are not shown are gone through."""
    return tuple(sorted(set(_makers(reads, behind, shown, set()))))


def _makers(
    reads: Iterable[str], behind: Mapping[str, tuple[str, ...]], shown: Mapping[str, int], seen: set[str]
) -> Iterator[int]:
    for name in reads:
        if name in shown:
            yield shown[name]
        elif name not in seen:
            seen.add(name)
            yield from _makers(behind.get(name, ()), behind, shown, seen)
