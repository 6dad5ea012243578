import numpy as np
import paddle
import paddle.nn as nn


class Inner(nn.Layer):
    def forward(self, x, scale=1.0, **extra):
        return x * scale + extra.get("shift", 0.0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        opts = {"scale": 2.0, "shift": 1.0}
        return self.inner(x, **opts)


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
