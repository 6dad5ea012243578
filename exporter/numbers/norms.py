"""The two norms in which errors are measured, and the floor below which float32 says nothing.

Errors are relative to the truth's size as a whole, not element by element: element-wise ratios raise false alarms on
clean engines (34 of 1,944 measured above 4), these two none.
"""

from __future__ import annotations

import numpy as np

from exporter.tensors import Array

#: Four times float32's unit roundoff: no e_ref is taken to be smaller (measured to bind in one output of eight).
FLOOR = 4 * 2.0**-24
#: The floor of outputs that are computed in float64 throughout: their truth is itself rounded in float64.
FLOOR_64 = 2.0**-44
#: Below it results lie near float32's denormals, which engines may flush.
SMALLEST_SCALE = 2.0**-102
#: Above it a case amplifies rounding so much that a match would prove nothing.
WORST_E_REF = 1e-2


def norms(value: Array) -> tuple[float, float]:
    """The largest absolute value, and the root mean square; scaled before squaring so that 1e292 does not overflow."""
    if value.size == 0:
        return 0.0, 0.0
    wide = np.abs(np.asarray(value, dtype="float64"))
    largest = float(wide.max())
    if largest == 0.0 or not np.isfinite(largest):
        return largest, largest
    return largest, largest * float(np.sqrt(np.mean(np.square(wide / largest))))


def error(truth: Array, candidate: Array) -> tuple[float, float]:
    """Relative error of a candidate of the truth's shape in both norms; NaN where either is not finite.

    Where the truth is zero throughout, any difference is infinitely large and none is zero.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        difference = norms(np.asarray(candidate, dtype="float64") - np.asarray(truth, dtype="float64"))
    scale = norms(truth)
    relative = [_divide(part, whole) for part, whole in zip(difference, scale, strict=True)]
    return relative[0], relative[1]


def ratio(truth: Array, candidate: Array, e_ref: tuple[float, float], floor: float = FLOOR) -> float:
    """The error ratio: how many times worse than eager float32 the candidate is, in the worse of the two norms.

    No reference error is taken to be smaller than `floor`.

    NaN where the candidate is not finite, so callers must write ``not (ratio <= budget)``.
    """
    parts = [part / max(ref, floor) for part, ref in zip(error(truth, candidate), e_ref, strict=True)]
    return float("nan") if any(np.isnan(part) for part in parts) else max(parts)


def above(number: float, limit: float) -> str:
    """A number that is over a limit, with three digits or as many as show that it is: 4.0012, not 4."""
    digits = next((digits for digits in range(3, 17) if not float(f"{number:.{digits}g}") <= limit), 17)
    return f"{number:.{digits}g}"


def _divide(part: float, whole: float) -> float:
    if part == 0.0 and np.isfinite(whole):
        return 0.0
    return part / whole if whole else float("inf")
