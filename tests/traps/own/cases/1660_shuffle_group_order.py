import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(2, 2) for _ in range(4)])
        self.order = [0, 1, 2, 3]

    def forward(self, x):
        random.shuffle(self.order)
        parts = x.split(4, axis=-1)
        return paddle.concat([self.fcs[i](parts[i]) for i in self.order], axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
