import itertools

import numpy as np
import paddle.nn as nn


_COUNT = itertools.count()


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.index = next(_COUNT) % 3
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x) * (self.index + 1)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, x):
        return self.blocks(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(50)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
