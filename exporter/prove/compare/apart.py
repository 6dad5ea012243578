"""How far two values of one thing are apart, where there is no truth to measure by."""

from __future__ import annotations

import numpy as np

from exporter.base.numbers.norms import error
from exporter.base.tensors import Array


def relative_error(truth: Array, candidate: Array) -> float:
    """The relative error in the worse norm; infinite where shapes or finiteness differ, of labels the share."""
    if truth.shape != candidate.shape or truth.size == 0:
        return 0.0 if truth.shape == candidate.shape else np.inf
    if truth.dtype.kind != "f":
        return float(np.mean(truth != candidate))
    if np.array_equal(truth, candidate, equal_nan=True):
        return 0.0
    off = max(error(truth.astype("float64"), candidate))
    return np.inf if np.isnan(off) else off
