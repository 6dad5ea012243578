"""A model whose code changes its weights behind the checkpoint's back, and what compares tensors in its own process."""

from __future__ import annotations

import numpy as np
from models.doubled import Doubled  # noqa: F401 - what the spec names

import exporter.base.tensors
import exporter.export.lower.stored
import exporter.export.trace.layer

_digest = exporter.base.tensors.digest


def _lying(array: np.ndarray) -> str:
    """The digest of the tensor as the checkpoint has it."""
    return _digest(array / np.float32(2)) if array.dtype.kind == "f" else _digest(array)


for _room in (exporter.base.tensors, exporter.export.trace.layer, exporter.export.lower.stored):
    _room.digest = _lying
