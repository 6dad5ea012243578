"""Layers that are one step of a decoder, as a language model is deployed; and one that only sounds like it."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

WORDS, PLACES, WIDTH, HEADS, SHARED = 50, 40, 24, 6, 3


class Step(nn.Layer):
    """Attention over what is past; three heads of keys and values are shared by six of queries."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.num_heads, self.num_key_value_heads = HEADS, SHARED
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.q, self.k, self.v = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH // 2), nn.Linear(WIDTH, WIDTH // 2)
        self.out, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, input_ids, position_ids, attention_mask, past_key, past_value):
        x = self.words(input_ids) + self.places(position_ids)
        q, k, v = (
            layer(x).reshape([0, 0, heads, WIDTH // HEADS]).transpose([0, 2, 1, 3])
            for layer, heads in ((self.q, HEADS), (self.k, SHARED), (self.v, SHARED))
        )
        key, value = paddle.concat([past_key, k], axis=2), paddle.concat([past_value, v], axis=2)
        bias = ((1 - attention_mask).astype("float32") * -1e9).unsqueeze([1, 2])
        wide = [paddle.repeat_interleave(part, HEADS // SHARED, axis=1) for part in (key, value)]
        weights = F.softmax(paddle.matmul(q, wide[0], transpose_y=True) / 2.0 + bias, axis=-1)
        mixed = paddle.matmul(weights, wide[1]).transpose([0, 2, 1, 3]).reshape([0, 0, WIDTH])
        return self.head(x + self.out(mixed)), key, value


class Recurrent(nn.Layer):
    """It takes what is past, and gives a mean of it that is no past."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, past):
        return self.linear(past)
