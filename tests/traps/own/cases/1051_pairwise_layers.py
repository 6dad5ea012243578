import itertools

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, widths=(8, 6, 4)):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(a, b) for a, b in itertools.pairwise(widths)])

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return x


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
