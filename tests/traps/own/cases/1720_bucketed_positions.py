import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def relative_bucket(rel, num=8):
    n = -rel
    sign = (n < 0).astype("int64") * (num // 2)
    n = n.abs()
    exact = num // 4
    large = exact + (paddle.log(n.astype("float32") / exact + 1e-6) / math.log(4.0) * exact).astype("int64")
    large = paddle.minimum(large, paddle.full_like(large, num // 2 - 1))
    return sign + paddle.where(n < exact, n, large)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(8, 1)
        self.q = nn.Linear(8, 8)

    def forward(self, x):
        t = x.shape[1]
        ctx = paddle.arange(t, dtype="int64")
        rel = ctx.unsqueeze(0) - ctx.unsqueeze(1)
        bias = self.bias(relative_bucket(rel)).squeeze(-1)
        return F.softmax(self.q(x) @ x.transpose([0, 2, 1]) + bias) @ x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(71)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
