"""The truth of one output of one case, and how far float32 is from it; arrays in, numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exporter.base.numbers.allowance import allowance, independent_numbers
from exporter.base.numbers.norms import error
from exporter.base.numbers.partial import counting
from exporter.base.tensors import Array

#: How the method is called where there is no truth.
UNTOLD = "none: its shape depends on rounding"


@dataclass(frozen=True)
class Truth:
    """What one output of one case should be; `e_ref` is relative to the largest value (max norm) and the rms (L2).

    `allowance` widens the tolerance of an output of few numbers, see :mod:`exporter.base.numbers.allowance`. `runs`
    are the float32 runs besides eager's own that it was measured by.
    """

    value: Array
    e_ref_max: float
    e_ref_l2: float
    method: str
    allowance: float = 1.0
    runs: tuple[Array, ...] = ()


def measured(values: Sequence[Array], exact: Array | None, method: str) -> Truth:
    """The truth by float32 runs, eager's first; without a float64 run (`exact`), by their mean and spread."""
    if values[0].dtype.kind != "f":
        return Truth(values[0], 0.0, 0.0, "exact")
    centre = np.mean([value.astype("float64") for value in values], axis=0) if exact is None else exact
    errors = [error(centre, value) for value in values]
    largest = max(one[0] for one in errors), max(one[1] for one in errors)
    numbers = independent_numbers(values[0], [value.astype("float64") for value in values])
    count = 1 if unmoved(values) else len(values)
    return Truth(centre, *largest, method, allowance(numbers, count), tuple(values[1:]))


def measured_in_part(values: Sequence[Array], exact: Array | None, method: str, spread: str) -> Truth:
    """The same of a case in which rows may have no answer: it is measured by the others, and NaN where none is.

    Where float64 is not finite and eager is, the float32 runs stand for it, by the method `spread`: kernels of float32
    give `1/n` for a softmax over nothing but -inf in some sizes (multiples of 8, Paddle 3.3.1), and NaN in others.
    """
    finite = np.logical_and.reduce([np.isfinite(value) for value in values])
    if values[0].dtype.kind != "f" or not finite.any():
        return measured(values, exact, method)
    if exact is not None and not np.isfinite(exact[finite]).all():
        exact, method = None, spread
    whole = np.full(values[0].shape, np.nan)
    whole[finite] = (
        np.mean([value[finite].astype("float64") for value in values], 0) if exact is None else exact[finite]
    )
    counts = counting(values[0], whole)
    part = measured([value[counts] for value in values], None if exact is None else exact[counts], method)
    return replace(part, value=whole, runs=tuple(values[1:]))


def same_bits(one: Array, other: Array) -> bool:
    """Equal in dtype, shape and every bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def unmoved(values: Sequence[Array]) -> bool:
    """Whether all runs gave the same bits: what was moved does not reach the output, so they are one run."""
    return all(same_bits(values[0], value) for value in values[1:])
