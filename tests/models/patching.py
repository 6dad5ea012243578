"""A model whose code changes its weights behind the checkpoint's back, and what compares tensors in its own process."""

from __future__ import annotations

import numpy as np
import paddle
from paddle import nn

import exporter.lower._stored
import exporter.tensors
import exporter.trace.layer

_digest = exporter.tensors.digest


def _lying(array: np.ndarray) -> str:
    """The digest of the tensor as the checkpoint has it."""
    return _digest(array / np.float32(2)) if array.dtype.kind == "f" else _digest(array)


for _room in (exporter.tensors, exporter.trace.layer, exporter.lower._stored):
    _room.digest = _lying


class Doubled(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.only = nn.Linear(4, 3)
        self._done = False

    def eval(self) -> None:
        super().eval()
        if not self._done:
            self._done = True
            for parameter in self.parameters():
                parameter.set_value(parameter * 2.0)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.only(x)
