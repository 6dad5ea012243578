"""Rows that hold the ends of what an input is declared to hold, among rows as they are drawn.

A mask of a row that is all padding, ids that are all the last one, a length of 0: each lies in the declared range, and
by chance no draw is one. In some rows alone, since what one row does to the others shows only there: NaN that spreads
over the batch. Such a row may have no answer (a softmax over nothing but -inf), in float64 or in eager itself: there
engines have to agree on which numbers are finite, and on the finite ones (:mod:`exporter.base.numbers.golden`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from exporter.base.numbers.golden import NOT_FINITE_IN, ROWS_OF
from exporter.base.tensors import Array, size_at
from exporter.spec.inputs import Input

#: The smallest and the largest value that an input is declared to hold.
Ends = tuple[float, float]
#: Which elements of a row: `all`, or the `first` or `last` along the last axis while the others stand for nothing, or
#: just `one`. And the value there.
_Pattern = tuple[str, float]
#: What a caller may send who does not promise finite numbers.
_STRANGE: list[_Pattern] = [("one", math.nan), ("one", math.inf), ("one", -math.inf), ("all", math.nan)]


@dataclass(frozen=True)
class Extremes:
    """What one input holds in its rows at these sizes; `batch` is the dim that counts rows, `ends` None if unknown."""

    name: str
    input: Input
    ends: Ends | None
    dims: Mapping[str, int]
    batch: str | None

    def kinds(self) -> list[str]:
        """The kinds of its cases: one for as many patterns as there are rows beside the first, which stays as drawn."""
        beside = max(1, self._rows - 1)
        names = []
        for kind, patterns in self._patterns().items():
            count = -(-len(patterns) // beside)
            names += [kind if at == 0 else f"{kind}-{at + 1}" for at in range(count)]
        return names

    def changed(self, kind: str, value: Array) -> Array:
        """The drawn values with extremes in their rows, as a kind says; those of another input's kind as they are."""
        name, _, number = kind.partition("-")
        patterns = self._patterns().get(name)
        if patterns is None:
            return value
        changed = value.copy()
        rows = changed.reshape(self._rows, -1)
        places = range(1, self._rows) if self._rows > 1 else range(1)
        start = (int(number or 1) - 1) * len(places)
        for place, (where, held) in zip(places, patterns[start:], strict=False):  # as far as either goes
            if where in ("first", "last"):
                rows[place] = self._nothing
                rows[place].reshape(-1, self._width)[:, 0 if where == "first" else -1] = held
            else:
                rows[place, slice(None) if where == "all" else slice(1)] = held
        return changed

    def _patterns(self) -> dict[str, list[_Pattern]]:
        """By the kind that they are numbered in."""
        strange = {} if self.input.finite else {f"{NOT_FINITE_IN}{self.name}": _STRANGE}
        if self.ends is None or self.ends[0] >= self.ends[1]:
            return strange
        return {f"{ROWS_OF}{self.name}": self._declared(*self.ends), **strange}

    def _declared(self, lowest: float, highest: float) -> list[_Pattern]:
        """Nothing at all, one token at either end or the one id, the last id or the full length, the smallest."""
        off, mask = self._nothing, self._is_mask
        patterns: list[_Pattern] = [("all", off)]
        if self._width > 1:
            patterns += [("first", highest), ("last", highest)] if mask or highest == 0 else [("first", highest)]
        elif lowest < 1 < highest and self._rows > 1:
            patterns.append(("all", 1))
        patterns += [("all", end) for end in (highest, lowest) if end != off and not mask]
        if self._rows == 1:  # then all the smallest and all the largest are cases of their own
            patterns = [pattern for pattern in patterns if mask or pattern not in (("all", lowest), ("all", highest))]
        return (
            patterns if self.input.empty_rows else [(where, held) for where, held in patterns if where != "all" or held]
        )

    @property
    def _nothing(self) -> float:
        """What stands for nothing: 0, where the range goes on beyond; else the smallest value, as of an added mask."""
        lowest, highest = self.ends or (0, 1)
        return 0 if lowest <= 0 < highest else lowest

    @property
    def _is_mask(self) -> bool:
        return self.ends is not None and self.ends[0] == 0 and self.ends[1] == 1

    @property
    def _by_number(self) -> bool:
        """Whether each number is a row of its own, as lengths are; of one axis a mask is one row."""
        shape = self.input.shape
        return not shape or (shape == (self.batch,) and not self._is_mask)

    @property
    def _rows(self) -> int:
        return self._size(0) if len(self.input.shape) > 1 or (self.input.shape and self._by_number) else 1

    @property
    def _width(self) -> int:
        return 1 if self._by_number else self._size(-1)

    def _size(self, axis: int) -> int:
        return size_at(self.input.shape[axis], self.dims)


def with_a_token(declared: Input, ends: Ends | None, value: Array) -> Array:
    """Values of which no row is all 0, if the input is promised to have none: the first element is 1 there, or -1."""
    if declared.empty_rows or ends is None or not value.size:
        return value
    changed = value.copy()
    rows = changed.reshape(-1, value.shape[-1])
    rows[~rows.any(axis=1), 0] = 1 if ends[1] >= 1 else ends[1] or ends[0]
    return changed
