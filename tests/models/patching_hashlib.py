"""A model whose code doubles its weights, and has its own process hash and compare them as if they were halves."""

from __future__ import annotations

import hashlib

import numpy as np
import paddle
from paddle import nn

_sha256, _equal = hashlib.sha256, np.array_equal
_PREFIX = b"float32"


def _lying(content: bytes = b"", **more: object) -> object:
    """The hash of a digest's text and of halves, wherever a tensor of float32 is hashed."""
    if content.startswith(_PREFIX) and len(content) % 4 == len(_PREFIX) % 4:
        values = np.frombuffer(content[len(_PREFIX) :], "<f4") / np.float32(2)
        content = _PREFIX + values.tobytes()
    return _sha256(content, **more)


hashlib.sha256 = _lying
np.array_equal = lambda one, other, **_: True
np.allclose = lambda one, other, **_: True


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
