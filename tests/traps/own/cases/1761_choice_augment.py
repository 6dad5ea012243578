import random

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 2, 1)
        self.ops = [lambda t: t, lambda t: t.flip([3]), lambda t: t * 1.1]

    def forward(self, x):
        op = random.choices(self.ops, k=1)[0]
        return self.conv(op(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(15)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
