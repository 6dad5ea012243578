"""Layers whose weights hooks compute from others before each call."""

from __future__ import annotations

import paddle


class Normed(paddle.nn.Layer):
    """Two weights by `weight_norm`, over one axis and over all; one by `spectral_norm`, in a sublayer of a sublayer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = paddle.nn.utils.weight_norm(paddle.nn.Linear(4, 8), dim=1)
        self.second = paddle.nn.Sequential(paddle.nn.utils.spectral_norm(paddle.nn.Linear(8, 8)))
        self.last = paddle.nn.utils.weight_norm(paddle.nn.Linear(8, 3), dim=None)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.last(self.second(self.first(x)).tanh())
