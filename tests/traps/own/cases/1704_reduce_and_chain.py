import functools
import itertools

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(8, 4) for _ in range(4)])

    def forward(self, x):
        pairs = [(self.fcs[i](x), self.fcs[i + 1](x)) for i in range(0, 4, 2)]
        flat = list(itertools.chain.from_iterable(pairs))
        total = functools.reduce(lambda a, b: a * 0.5 + b, flat)
        return total


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(55)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
