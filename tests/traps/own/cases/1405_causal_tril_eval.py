import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)

    def forward(self, x):
        scores = paddle.matmul(self.q(x), self.k(x), transpose_y=True)
        t = paddle.shape(x)[1]
        mask = paddle.tril(paddle.ones([t, t], dtype=x.dtype))
        scores = scores * mask - 1e4 * (1.0 - mask)
        return F.softmax(scores, -1) @ x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(47)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
