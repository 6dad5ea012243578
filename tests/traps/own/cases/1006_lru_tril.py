import functools

import numpy as np
import paddle
import paddle.nn as nn


@functools.cache
def causal(n):
    return paddle.tril(paddle.ones([n, n]))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        causal(6)

    def forward(self, x):
        w = paddle.matmul(x, x, transpose_y=True) * causal(x.shape[1])
        return paddle.matmul(w, x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
