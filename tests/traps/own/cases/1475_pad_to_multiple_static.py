import math

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, div=8):
        super().__init__()
        self.div = div
        self.conv = nn.Conv2D(3, 4, 3, 2, 1)

    def forward(self, x):
        h, w = x.shape[2], x.shape[3]
        ph, pw = (-h) % self.div, (-w) % self.div
        if ph or pw:
            x = F.pad(x, [0, pw, 0, ph])
        y = self.conv(x)
        return y[:, :, : math.ceil(h / 2), : math.ceil(w / 2)]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 18, 22], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(20)
    return [
        ((rng.standard_normal((n, 3, 18, 22)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
