import enum

import numpy as np
import paddle
import paddle.nn as nn


class Mode(enum.Enum):
    SUM = 1
    MAX = 2


class Net(nn.Layer):
    def __init__(self, mode=Mode.MAX):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        if self.mode is Mode.SUM:
            return x.sum(axis=-1)
        return x.max(axis=-1)


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
