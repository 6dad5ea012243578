"""A network whose first feature counts for little in its output: what goes wrong with it is hardly seen there."""

from __future__ import annotations

import paddle
from paddle import nn


class Quiet(nn.Layer):
    """[batch, 6] to [batch, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 3)
        loud = paddle.ones([16, 1])
        loud[0] = 1e-5
        self.second.weight.set_value(self.second.weight * loud)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(paddle.tanh(self.first(x)))


def quiet() -> nn.Layer:
    return Quiet()
