"""A model that gives nearly every row the same label, and puts out nothing else."""

from __future__ import annotations

import paddle
from paddle import nn


class Skewed(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 512)
        self.last = nn.Linear(512, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        scores = self.last(nn.functional.relu(self.first(x)))
        return paddle.argmax(scores + paddle.to_tensor([0.0, 0.6, 0.0]), axis=-1)
