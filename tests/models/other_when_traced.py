"""Layers that compute something else while they are traced, without a word: no engine is to blame for them."""

from __future__ import annotations

import paddle
from paddle import nn


def factor() -> float:
    """A number of Python that depends on how the code runs."""
    # exporter: ignore[EX112] it is what is shown
    return 1.0 if paddle.in_dynamic_mode() else 1.001


class Scaled(nn.Layer):
    """The last line of a layer without sublayers behind it is off by a thousandth."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = paddle.tanh(self.first(x))
        return y * (factor() * 3.0)  # off in Scaled


class Before(nn.Layer):
    """What goes into the second sublayer is another tensor altogether."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.head = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = paddle.tanh(self.first(x))
        z = y + paddle.full([4], 2.0 + (factor() - 1.0) * 4000.0)  # off in Before
        return self.head(paddle.nn.functional.relu(z) * 2.0)
