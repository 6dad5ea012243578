import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, height=8):
        super().__init__()
        self.height = height
        self.conv = nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, x):
        w = math.ceil(x.shape[3] * self.height / x.shape[2])
        x = F.interpolate(x, size=[self.height, w], mode="nearest")
        return self.conv(x).mean(axis=[2])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 16, 2.0), (1, 8, 24, -2.0), (3, 13, 9, 0.5), (4, 32, 16, -0.5))
    ]
