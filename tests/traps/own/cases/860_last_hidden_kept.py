import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 8)
        self.h = None

    def forward(self, x):
        prev = self.h.mean(axis=0, keepdim=True).expand([x.shape[0], 8]) if self.h is not None else x
        _, h = self.cell(x, prev)
        self.h = h
        return h


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
