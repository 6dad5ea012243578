"""The largest absolute difference."""

from __future__ import annotations

import numpy as np

from exporter.base.numbers.metrics.base import Metric
from exporter.base.tensors import Array


def max_abs(reference: Array, candidate: Array) -> float:
    """Return max |candidate − reference|, in the output's own units."""
    wide = np.asarray(candidate, dtype="float64") - np.asarray(reference, dtype="float64")
    return float(np.abs(wide).max(initial=0.0))


plugin: Metric = max_abs
