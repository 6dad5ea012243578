"""The largest difference relative to the element itself."""

from __future__ import annotations

import numpy as np

from exporter.base.numbers.metrics.base import Metric
from exporter.base.tensors import Array


def max_rel(reference: Array, candidate: Array) -> float:
    """Return max |candidate − reference| / |reference|; elements that are equal count 0, also where both are 0."""
    wide = np.asarray(reference, dtype="float64")
    difference = np.abs(np.asarray(candidate, dtype="float64") - wide)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(difference == 0, 0.0, difference / np.abs(wide))
    return float(relative.max(initial=0.0))


plugin: Metric = max_rel
