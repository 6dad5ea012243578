"""Layers that give what no input decides: buffers and parameters as they are, or what is made of them."""

from __future__ import annotations

import paddle
from paddle import nn


class Returned(nn.Layer):
    """As detectors give their anchors and models a learned scale."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.linear = nn.Linear(4, 3)
        self.scale = self.create_parameter([3], default_initializer=nn.initializer.Normal())
        self.register_buffer("grid", paddle.arange(6, dtype="float32").reshape([1, 2, 3]))
        self.register_buffer("ids", paddle.arange(5))
        self.register_buffer("bias", paddle.full([3], 0.5), persistable=False)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        y = self.linear(x)
        return (
            y + self.bias,
            self.scale,
            self.grid,
            self.ids,
            self.bias,
            self.grid.reshape([3, 2]) * 2.0,
            y @ self.linear.weight.t(),
        )


class Chosen(nn.Layer):
    """Which buffer it gives hangs on the input: by data, by a size, by a condition."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("grid", paddle.arange(6, dtype="float32").reshape([3, 2]))

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        if x.sum() > 0:
            chosen = self.grid * 1.0
        else:
            chosen = self.grid + 1.0
        return chosen, self.grid + (x.sum() > 1e6).astype("float32"), paddle.ones_like(x) * 2.0, self.grid


class Dead(nn.Layer):
    """A unit that never fires: the same output in all cases, and yet its input decides it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return self.linear(x), nn.functional.relu(x - 1e6) + 1.0


class Zero(nn.Layer):
    """A first state that is zero, beside what is computed."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.linear = nn.Linear(4, 3)
        self.register_buffer("state", paddle.zeros([1, 3]))

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return self.linear(x), self.state
