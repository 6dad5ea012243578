"""How far a result is from the truth: errors in two norms, error ratios, and signal-to-noise ratios.

Errors are relative to the truth's size as a whole, not element by element: element-wise ratios raise false alarms on
clean engines (34 of 1,944 measured above 4), these two none.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Four times float32's unit roundoff: no e_ref is taken to be smaller (measured to bind in one output of eight).
FLOOR = 4 * 2.0**-24
#: The floor of float16's numbers, beyond half a step of their own. The usual budget of four is half a unit roundoff of
#: float16: whatever is exact, and one step off everywhere, errs more, since half a step is more than 2⁻¹² of a number.
FLOOR_16 = 2.0**-14
#: The floor of outputs that are computed in float64 throughout: their truth is itself rounded in float64.
FLOOR_64 = 2.0**-44
#: Below it results lie near float32's denormals, which engines may flush.
SMALLEST_SCALE = 2.0**-102
#: Above it a case amplifies rounding so much that a match would prove nothing.
WORST_E_REF = 1e-2
#: The signal-to-noise ratio of an error of exactly zero, in dB: more than float32 can show against float64.
LOUDEST = 200.0


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

    Where the truth is zero throughout, any difference is infinitely large and none is zero. Of float16 it is what the
    error has beyond the rounding of the answer itself.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        off = norms(unrounded(truth, candidate) - truth)
    scale = norms(truth)
    return _divide(off[0], scale[0]), _divide(off[1], scale[1])


def unrounded(truth: Array, candidate: Array) -> Array:
    """A candidate in float64; of float16 that number which rounds to it and is nearest to the truth.

    Rounding to float16 is 2⁻¹¹ of a number, and thousands of times what float32 computes wrong: it would hide that. A
    number half-way between two is as near to both.
    """
    wide = np.asarray(candidate, dtype="float64")
    if np.asarray(candidate).dtype != np.float16:
        return wide
    side = np.where(truth > wide, np.inf, -np.inf).astype("float16")
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.abs(np.nextafter(candidate, side).astype("float64") - wide)
        half = np.where(np.isinf(step) & np.isfinite(wide), 16.0, step / 2)  # beyond 65504 the next would be 65536
        nearest: Array = np.clip(truth, wide - half, wide + half)
    return nearest


def ratio(truth: Array, candidate: Array, e_ref: tuple[float, float], floor: float = FLOOR) -> float:
    """The error ratio: how many times worse than eager float32 a candidate is, in the worse of the two norms.

    No reference error is taken to be smaller than `floor`, nor than float16's own of a candidate in float16. NaN where
    the candidate is not finite, so callers must write ``not (ratio <= budget)``.
    """
    off, least = error(truth, candidate), max(floor, FLOOR_16) if np.asarray(candidate).dtype == np.float16 else floor
    parts = [off[norm] / max(e_ref[norm], least) for norm in (0, 1)]
    return math.nan if any(math.isnan(part) for part in parts) else max(parts)


def above(number: float, limit: float) -> str:
    """A number that is over a limit, with three digits or as many as show that it is: 4.0012, not 4."""
    digits = next((digits for digits in range(3, 17) if not float(f"{number:.{digits}g}") <= limit), 17)
    return f"{number:.{digits}g}"


def _divide(part: float, whole: float) -> float:
    if part == 0.0 and math.isfinite(whole):
        return 0.0
    return part / whole if whole else math.inf


def energies(truth: Array, got: Array) -> tuple[float, float]:
    """The energy of the signal, and of what was added to it (sums of squares, in float64)."""
    true = np.asarray(truth, dtype="float64")
    return float(np.sum(np.square(true))), float(np.sum(np.square(np.asarray(got, dtype="float64") - true)))


def decibel(signal: float, noise: float) -> float:
    """The ratio of two energies in dB: 0 for an answer of zeros, 20 for an error of a tenth; NaN stays NaN.

    It lies between -`LOUDEST` and `LOUDEST`.
    """
    if math.isnan(signal) or math.isnan(noise):
        return math.nan
    if noise == 0.0:
        return LOUDEST if signal else 0.0
    times = signal / noise  # of an error of 1e200 the energy is infinite
    return min(LOUDEST, max(-LOUDEST, 10 * math.log10(times))) if times else -LOUDEST
