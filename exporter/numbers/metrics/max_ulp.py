"""The largest distance in units in the last place."""

from __future__ import annotations

import numpy as np

from exporter.numbers.metrics.base import Metric
from exporter.tensors import Array


def max_ulp(reference: Array, candidate: Array) -> float:
    """How many representable numbers of the candidate's dtype lie between; 0 for integers that are equal."""
    if candidate.dtype.kind != "f" or candidate.dtype.itemsize > 8:
        return float(np.abs(candidate.astype("float64") - reference.astype("float64")).max(initial=0.0))
    ordered = [_ordered(np.asarray(one, dtype=candidate.dtype)) for one in (reference, candidate)]
    return float(np.abs(ordered[0].astype("float64") - ordered[1].astype("float64")).max(initial=0.0))


def _ordered(value: Array) -> Array:
    """Map floats to integers whose order and distances are those of the representable numbers."""
    signed = value.view(f"i{value.dtype.itemsize}")
    lowest = np.iinfo(signed.dtype).min
    return np.where(signed < 0, lowest - signed, signed)


plugin: Metric = max_ulp
