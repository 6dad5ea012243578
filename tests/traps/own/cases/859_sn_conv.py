from paddle.nn.utils import spectral_norm

import numpy as np
import paddle
import paddle.nn as nn


def conv(cin, cout):
    return spectral_norm(nn.Conv2D(cin, cout, 3, padding=1))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(3, 4), nn.LeakyReLU(0.2), conv(4, 2))

    def forward(self, x):
        return self.body(x).mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
