import math

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        q, k = self.q(x), self.k(x)
        d = q.shape[-1]
        attn = paddle.matmul(q, k, transpose_y=True) / math.sqrt(d)
        attn = attn - attn.max(axis=-1, keepdim=True)
        w = paddle.exp(attn)
        return paddle.matmul(w / w.sum(-1, keepdim=True), x) * int(math.log2(d))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(7)
    return [
        ((rng.standard_normal((n, t, 16)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
