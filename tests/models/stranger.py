"""A network that is large enough for int8 to make it smaller, and small enough for thousands of copies."""

from __future__ import annotations

import paddle
from paddle import nn


class Wider(nn.Layer):
    """Three linear layers; half the weights lie in the middle one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 96)
        self.middle = nn.Linear(96, 96)
        self.last = nn.Linear(96, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(nn.functional.relu(self.middle(nn.functional.relu(self.first(x)))))


def wider() -> nn.Layer:
    return Wider()
