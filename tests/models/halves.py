"""Layers whose inputs or outputs are float16: what Paddle's CPU kernels can compute of it."""

from __future__ import annotations

import paddle
from paddle import nn


class Doubled(nn.Layer):
    def forward(self, h: paddle.Tensor) -> paddle.Tensor:
        return h * 2


class Elementwise(nn.Layer):
    """Once and several times rounded, up and back to float32, and moved."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.linear = nn.Linear(4, 3)
        self.table = nn.Embedding(8, 4)
        self.table.to(dtype="float16")

    def forward(self, h: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        wide = self.linear(h.astype("float32"))
        rows = self.table(paddle.argsort(h.astype("float32"), 1))
        return (
            h / 3,
            h * 0.1 + 0.7,
            (h * 0.5).exp() / 3,
            h.sum(-1),
            paddle.concat([h, -h], 1),
            wide,
            wide.astype("float16"),
            rows,
        )


class Mixed(nn.Layer):
    """Promotion among three floats, as eager does it."""

    def forward(self, a: paddle.Tensor, d: paddle.Tensor, h: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return a + d, h + a, h * 2, a > d, paddle.where(a > 0, a, d), paddle.maximum(h.astype("float32"), a)
