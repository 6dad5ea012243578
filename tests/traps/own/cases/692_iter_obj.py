import numpy as np
import paddle
import paddle.nn as nn


class Chunks:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def __iter__(self):
        for i in range(self.n):
            yield self.x[:, i * 2 : i * 2 + 2]


class Net(nn.Layer):
    def forward(self, x):
        return sum(c.sum(axis=-1) * float(i + 1) for i, c in enumerate(Chunks(x, 4)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
