import numpy as np
import paddle
import paddle.nn as nn


class Meter:
    def __init__(self):
        self.value = 0.0

    def update(self):
        self.value = self.value + 1.0
        return self.value


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.meter = Meter()

    def forward(self, x):
        return paddle.tanh(x) * self.meter.update()


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
