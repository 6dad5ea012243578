"""Rows that stand beside those of a case in one run: of other cases, changed, and at the ends of their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array, TensorMap

#: The smallest whole number that an input is declared to hold, and the one after the largest, by its name.
Ranges = Mapping[str, tuple[int, int]]
#: The rows of other cases as they were recorded, in two orders; then those that no case needs to hold.
OTHERS, TURNED = "rows of other cases", "rows of other cases in another order"
CHANGED, SMALLEST, LARGEST, NAN = "changed rows", "the smallest numbers", "the largest numbers", "NaN"
KINDS = (OTHERS, TURNED, CHANGED, SMALLEST, LARGEST, NAN)


@dataclass(frozen=True)
class Companions:
    """The rows that other cases hold, by input, and the ranges of whole numbers."""

    rows: TensorMap
    ranges: Ranges

    @classmethod
    def of(cls, cases: Sequence[TensorMap], ranges: Ranges) -> Companions:
        """Put the rows of some cases one behind the other."""
        return cls({name: np.concatenate([case[name] for case in cases]) for name in cases[0]}, ranges)

    def kinds(self) -> tuple[str, ...]:
        """Name what can be made of them: no whole number is NaN."""
        real = any(value.dtype.kind == "f" for value in self.rows.values())
        return KINDS if real else tuple(kind for kind in KINDS if kind != NAN)

    def take(self, kind: str, count: int, start: int = 0) -> dict[str, Array]:
        """Return so many rows of a kind."""
        return {name: self._taken(name, kind, count, start) for name in self.rows}

    def _taken(self, name: str, kind: str, count: int, start: int) -> Array:
        pool = self.rows[name]
        turned = kind == TURNED
        rows = pool[(start + turned + np.arange(count)) % len(pool)]
        if turned:
            return rows[::-1]
        if kind == OTHERS:
            return rows
        if rows.dtype.kind == "f":
            return _real(rows, kind)
        return ~rows if rows.dtype.kind == "b" else self._whole(rows, name, kind)

    def _whole(self, rows: Array, name: str, kind: str) -> Array:
        """Whole numbers within their range, or within what was recorded where none is declared."""
        pool = self.rows[name]
        low, stop = self.ranges.get(name, (int(pool.min()), int(pool.max()) + 1) if pool.size else (0, 1))
        if kind == SMALLEST:
            return np.full_like(rows, low)
        if kind in (LARGEST, NAN):
            return np.full_like(rows, stop - 1)
        return (low + (rows.astype(np.int64) - low + 1) % max(stop - low, 1)).astype(rows.dtype)


def _real(rows: Array, kind: str) -> Array:
    if kind == CHANGED:
        return (rows * -1.5 + 0.25).astype(rows.dtype)
    largest = float(np.finfo(rows.dtype).max)
    value = {SMALLEST: -largest, LARGEST: largest, NAN: np.nan}[kind]
    return np.full_like(rows, value)


def joined(rows: TensorMap, beside: TensorMap, place: int) -> dict[str, Array]:
    """Return rows in one run with others, of which `place` stand before them."""
    return {
        name: np.ascontiguousarray(np.concatenate([beside[name][:place], value, beside[name][place:]]))
        for name, value in rows.items()
    }
