"""A model whose code changes its weights behind the checkpoint's back, and what compares tensors in its own process."""

from __future__ import annotations

import numpy as np
from models.doubled import Doubled  # noqa: F401 - what the spec names

import exporter.lower._stored
import exporter.tensors
import exporter.trace.layer

_digest = exporter.tensors.digest


def _lying(array: np.ndarray) -> str:
    """The digest of the tensor as the checkpoint has it."""
    return _digest(array / np.float32(2)) if array.dtype.kind == "f" else _digest(array)


for _room in (exporter.tensors, exporter.trace.layer, exporter.lower._stored):
    _room.digest = _lying
