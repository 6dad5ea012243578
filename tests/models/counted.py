"""A layer inside which whole numbers are counted, of which PIR declares another dtype (3.3.1)."""

from __future__ import annotations

import paddle
from paddle import nn


class Counted(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        y = self.fc(x)
        values = paddle.unique((y * 4.0).astype("int64"))
        return y * 2.0, values
