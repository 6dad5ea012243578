import numpy as np
import paddle
import paddle.nn as nn


class Shift(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("off", paddle.zeros([8]))

    def forward(self, x):
        y = x + self.off
        self.off.set_value(self.off + 1.0)
        return y


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), Shift())

    def forward(self, x):
        return self.body(x)


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
