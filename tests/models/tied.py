"""Models that choose among elements, of which some cases have equal ones."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F


class Router(nn.Layer):
    """Two of four experts for each row, by a router whose bias is zero: rows of zeros make all scores equal."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(4, 4)
        self.experts = self.create_parameter([4, 4, 3])
        self.biases = self.create_parameter([4, 3], default_initializer=nn.initializer.Normal())

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        weights, chosen = paddle.topk(F.softmax(self.router(x), axis=-1), 2, axis=-1)
        gate = (F.one_hot(chosen, 4) * weights.unsqueeze(-1)).sum(1)
        return (gate.unsqueeze(-1) * (paddle.einsum("nd,edh->neh", x, self.experts) + self.biases)).sum(1)


class Shuffled(nn.Linear):
    """Its columns in an order that only ties decide, whatever the input."""

    def __init__(self) -> None:
        super().__init__(4, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        return paddle.take_along_axis(y, paddle.argsort(y * 0.0, axis=1), axis=1)


class Ranked(nn.Layer):
    """Equal elements in every case, of which no output tells which were chosen: values, a stable order, an argmax."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        twice = paddle.concat([x, x], axis=1)
        stable = paddle.argsort(twice, axis=1, stable=True)
        return paddle.topk(twice, 3, axis=1)[0], paddle.sort(twice, axis=1), stable, twice.argmax(axis=1)
