import functools
import math

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(8, 8) for _ in range(2)])

    @functools.cached_property
    def depth_scale(self):
        return 1.0 / math.sqrt(len(self.fcs))

    def forward(self, x):
        for fc in self.fcs:
            x = x + fc(x) * self.depth_scale
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(49)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
