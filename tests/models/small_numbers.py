"""A layer of dtypes that the predictor's handles cannot carry."""

from __future__ import annotations

import paddle
from paddle import nn


class ShortNumbers(nn.Layer):
    """It takes int16, and gives it."""

    def forward(self, i: paddle.Tensor, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return i.astype("int64") * 2, (x * 8.0).astype("int16"), i.astype("float32").mean(1) + x.sum()
