"""A network whose bits hang on how it is run: on the number of threads, and on the padding behind a sequence."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional


class Parting(nn.Layer):  # type: ignore[misc]  # Paddle has no types
    """Attention over tokens that a mask admits, and one long sum for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.query, self.head = nn.Embedding(40, 16), nn.Linear(16, 16), nn.Linear(16, 4)
        self.long = nn.Linear(20000, 3)

    def forward(self, ids: paddle.Tensor, mask: paddle.Tensor, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        tokens, kept = self.embed(ids), mask.astype("float32")
        scores = paddle.matmul(self.query(tokens), tokens, transpose_y=True) + (1.0 - kept).unsqueeze(1) * -1e9
        mixed = paddle.matmul(functional.softmax(scores, -1), tokens) * kept.unsqueeze(-1)
        return self.head(mixed.sum(1) / kept.sum(1, keepdim=True)), self.long(x)


def build() -> Parting:
    """Seeded weights."""
    paddle.seed(1)
    return Parting()
