import functools

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        conv = functools.partial(nn.Conv2D, kernel_size=3, padding=1, bias_attr=False)
        norm = functools.partial(nn.BatchNorm2D, epsilon=1e-3)
        self.c1, self.n1 = conv(3, 6), norm(6)
        self.c2, self.n2 = conv(6, 6), norm(6)
        self.pool = functools.partial(F.adaptive_avg_pool2d, output_size=1)

    def forward(self, x):
        x = F.relu(self.n1(self.c1(x)))
        x = x + F.relu(self.n2(self.c2(x)))
        return self.pool(x).flatten(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(61)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
