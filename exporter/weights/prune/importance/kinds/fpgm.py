"""A filter's distance from all others (He et al., "Filter Pruning via Geometric Median", 2019)."""

from __future__ import annotations

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.importance.base import Importance


def fpgm(filters: Array) -> Array:
    """The sum of Euclidean distances: a filter near the geometric median of all can be stood for by the others."""
    squares = np.square(filters).sum(axis=1)
    between = squares[:, None] + squares[None, :] - 2 * filters @ filters.T
    return np.asarray(np.sqrt(np.maximum(between, 0)).sum(axis=1))


plugin: Importance = fpgm
