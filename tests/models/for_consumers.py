"""Random networks of the kinds that consumers could not take, and one that they take."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn


class LoudAdd(nn.Layer):
    """A residual stream as in PP-OCRv5's recogniser: a sum over 65,504 that a norm makes small again."""

    def __init__(self, scale: float = 1e6) -> None:
        super().__init__()
        self.widen = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 4)
        self.scale = scale

    def forward(self, x: Any) -> Any:
        wide = self.widen(x)
        loud = wide + paddle.tanh(wide) * self.scale
        return self.head(self.norm(loud))


class ManyClasses(nn.Layer):
    """A recogniser's head: a score for each of 18,385 signs at each place."""

    def __init__(self, classes: int = 18385) -> None:
        super().__init__()
        self.head = nn.Linear(8, classes)

    def forward(self, x: Any) -> Any:
        return nn.functional.softmax(self.head(x), axis=-1)


class Attention(nn.Layer):
    """One head of self-attention between two norms."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.queries, self.keys, self.values = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        x = self.norm(x)
        scores = paddle.matmul(self.queries(x), self.keys(x), transpose_y=True) / 8**0.5
        return x + paddle.matmul(nn.functional.softmax(scores, axis=-1), self.values(x))


class Plain(nn.Layer):
    """Convolutions, a norm, a pool and a head: nothing that a consumer here refuses."""

    def __init__(self, width: int = 4, act: str = "relu") -> None:
        super().__init__()
        self.first = nn.Conv2D(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2D(width)
        self.act = getattr(nn.functional, act)
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.head = nn.Linear(width, 5)

    def forward(self, x: Any) -> Any:
        return self.head(paddle.flatten(self.pool(self.act(self.norm(self.first(x)))), 1))
