"""Models that eager computes well and that go wrong on the way: in an engine, in float32, or in the trace."""

from __future__ import annotations

import paddle
from paddle import nn


class Sandwich(nn.Layer):
    """Something between two linear layers."""

    def __init__(self, filling: nn.Layer) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.filling = filling
        self.last = nn.Linear(8, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(self.filling(self.first(x)))


class Overflow(nn.Layer):
    """Leaves the range of float32 and comes back: float64 does not notice."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        huge = x * 1e30
        return huge * huge * 1e-30 * 1e-30


class Switch(nn.Layer):
    """Does something else when it is traced."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * 2.0 if paddle.in_dynamic_mode() else x * 3.0


class SwitchOutside(Sandwich):
    """The code between two sublayers does more in eager than in the trace."""

    def __init__(self) -> None:
        super().__init__(nn.ReLU())

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        hidden = self.filling(self.first(x))
        if paddle.in_dynamic_mode():
            hidden = hidden * 1.5
        return self.last(hidden)


def bent() -> nn.Layer:
    """oneDNN ignores the threshold of softplus (Paddle Inference 3.3.1 with its defaults)."""
    return Sandwich(nn.Softplus(threshold=1.0))


def overflow() -> nn.Layer:
    return Sandwich(Overflow())


def switch() -> nn.Layer:
    return Sandwich(Switch())


def switch_outside() -> nn.Layer:
    return SwitchOutside()
