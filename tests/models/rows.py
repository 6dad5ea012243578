"""Layers whose rows may have no answer, and tables that ids may miss."""

from __future__ import annotations

import math

import paddle
import paddle.nn.functional as F
from paddle import nn


class Looked(nn.Layer):
    """A table of `rows` rows, which ids read."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        paddle.seed(2)
        self.table = nn.Embedding(rows, 3)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        return self.table(ids).sum(1)


class Soft(nn.Layer):
    """Attention with a mask of real numbers, used in one of several ways, or not at all."""

    def __init__(self, how: str) -> None:
        super().__init__()
        paddle.seed(2)
        self.k, self.v, self.how = nn.Linear(8, 1), nn.Linear(8, 5), how

    def forward(self, x: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        scores, weight = self.k(x).squeeze(-1), mask
        if self.how == "condition":
            weight = F.softmax(paddle.where(mask > 0.5, scores, paddle.full_like(scores, -math.inf)), -1)
        elif self.how == "bias":
            weight = F.softmax(scores + (1.0 - mask) * -1e9, -1)
        elif self.how == "factor":
            weight = F.softmax(scores, -1) * mask.cast("float32")
        else:
            weight = F.softmax(scores, -1)
        pooled = (weight.unsqueeze(-1) * self.v(x)).sum(1)
        return pooled + mask.mean(-1, keepdim=True) if self.how == "pixels" else pooled
