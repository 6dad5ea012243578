"""The sum of a filter's absolute weights (Li et al., "Pruning Filters for Efficient ConvNets", 2017)."""

from __future__ import annotations

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.importance.base import Importance


def l1(filters: Array) -> Array:
    """A filter of small weights puts out little."""
    return np.asarray(np.abs(filters).sum(axis=1))


plugin: Importance = l1
