"""The largest distance in units in the last place."""

from __future__ import annotations

import numpy as np

from exporter.base.numbers.metrics.base import Metric
from exporter.base.tensors import Array


def max_ulp(reference: Array, candidate: Array) -> float:
    """How many representable numbers of the candidate's dtype lie between; 0 for integers that are equal."""
    if candidate.dtype.kind != "f" or candidate.dtype.itemsize > 8:
        return float(np.abs(candidate.astype("float64") - reference.astype("float64")).max(initial=0.0))
    first, second = (_ordered(np.asarray(value, dtype=candidate.dtype)) for value in (reference, candidate))
    # Unsigned, since the distance of two int64 may be one more bit long, and float64 has too few for it.
    apart = np.maximum(first, second).view("uint64") - np.minimum(first, second).view("uint64")
    return float(apart.max(initial=0))


def _ordered(value: Array) -> Array:
    """Map floats to int64, in a row, whose order and distances are those of the representable numbers."""
    signed = value.ravel().view(f"i{value.dtype.itemsize}")
    lowest = np.iinfo(signed.dtype).min
    return np.where(signed < 0, lowest - signed, signed).astype("int64")


plugin: Metric = max_ulp
