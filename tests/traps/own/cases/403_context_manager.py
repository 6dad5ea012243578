import contextlib

import numpy as np
import paddle
import paddle.nn as nn


@contextlib.contextmanager
def scaled(layer, k):
    old, layer.k = layer.k, k
    yield
    layer.k = old


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = 1.0

    def forward(self, x):
        with scaled(self, 3.0):
            y = x * self.k
        return y + self.k


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
