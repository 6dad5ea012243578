import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start**i for i in range(n)]


class Net(nn.Layer):
    def __init__(self, heads=2):
        super().__init__()
        self.register_buffer("slopes", paddle.to_tensor(slopes(heads), dtype="float32").reshape([1, heads, 1, 1]))
        self.h = heads

    def forward(self, x):
        t = x.shape[1]
        q = x.reshape([x.shape[0], t, self.h, -1]).transpose([0, 2, 1, 3])
        pos = paddle.arange(t, dtype="float32")
        bias = -(pos.unsqueeze(0) - pos.unsqueeze(1)).abs() * self.slopes
        return (F.softmax(q @ q.transpose([0, 1, 3, 2]) + bias) @ q).sum(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(57)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
