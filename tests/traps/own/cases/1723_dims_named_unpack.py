import math

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        batch, *rest = x.shape
        views, *inner = rest
        y = x.reshape([-1, views, math.prod(inner)])
        return self.fc(y).reshape([-1, views * 5])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 2, 3, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(74)
    return [
        ((rng.standard_normal((n, 2, 3, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
