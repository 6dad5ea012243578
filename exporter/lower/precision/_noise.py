"""How much of a signal is noise: the unit in which low precision is measured."""

from __future__ import annotations

import math
from collections.abc import Iterable

from exporter.tensors import Array

#: What an error of exactly zero is said to be: more than any float32 result can show against float64.
LOUDEST = 200.0


def energies(truth: Array, got: Array) -> tuple[float, float]:
    """The energy of the signal, and of what was added to it (sums of squares, in float64)."""
    import numpy as np

    true = np.asarray(truth, dtype="float64")
    return float(np.sum(np.square(true))), float(np.sum(np.square(np.asarray(got, dtype="float64") - true)))


def decibel(signal: float, noise: float) -> float:
    """The ratio of two energies in dB: 0 for an answer of zeros, 20 for an error of a tenth; NaN stays NaN."""
    if math.isnan(signal) or math.isnan(noise):
        return math.nan
    if noise == 0.0:
        return LOUDEST if signal else 0.0
    return min(LOUDEST, 10 * math.log10(signal / noise)) if signal else -LOUDEST


def snr_db(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The signal-to-noise ratio of pairs of (truth, got) taken together, in dB."""
    signal = noise = 0.0
    for truth, got in pairs:
        more = energies(truth, got)
        signal, noise = signal + more[0], noise + more[1]
    return decibel(signal, noise)
