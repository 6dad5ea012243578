import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, size=3):
        super().__init__()
        self.size = size
        self.conv = nn.Conv2D(3, 2, 1)

    def forward(self, x):
        top = np.random.randint(0, x.shape[2] - self.size)
        mask = paddle.ones([1, 1, 8, 8])
        mask[:, :, top : top + self.size] = 0.0
        return self.conv(x * mask)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(12)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
