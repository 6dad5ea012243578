"""A model that computes in float64 throughout."""

from __future__ import annotations

import paddle
from paddle import nn


class Wide(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.weight = self.create_parameter([4, 3], dtype="float64")

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.tanh(paddle.matmul(x, self.weight))
