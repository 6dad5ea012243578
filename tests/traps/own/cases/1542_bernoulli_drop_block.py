import random

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, keep=0.9):
        super().__init__()
        self.keep = keep
        self.conv = nn.Conv2D(3, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        gamma = (1.0 - self.keep) / 9
        if random.uniform(0, 1) < gamma * 9 * 5:
            y = y * 0.0
        return F.relu(y)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(87)
    return [
        ((rng.standard_normal((n, 3, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
