import numpy as np
import paddle
import paddle.nn as nn


class Acc:
    __slots__ = ("total",)

    def __init__(self):
        self.total = 0.0

    def add(self, v):
        self.total = self.total + v
        return self.total


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.acc = Acc()

    def forward(self, x):
        return x + self.acc.add(1.0)


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
