import math

import numpy as np
import paddle
import paddle.nn as nn


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = paddle.exp(-math.log(max_period) * paddle.arange(half, dtype="float32") / half)
    args = t.astype("float32").unsqueeze(-1) * freqs.unsqueeze(0)
    emb = paddle.concat([paddle.cos(args), paddle.sin(args)], axis=-1)
    if dim % 2:
        emb = paddle.concat([emb, paddle.zeros_like(emb[:, :1])], axis=-1)
    return emb


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Linear(9, 8)

    def forward(self, x, t):
        return x + self.mlp(timestep_embedding(t, 9))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "t", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(55)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.integers(0, 50, (n,)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
