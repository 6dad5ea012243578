import numpy as np
import paddle
import paddle.nn as nn


class Wrapped:
    def __init__(self, value):
        self.value = value

    def __mul__(self, k):
        return Wrapped(self.value * k)

    def __call__(self, f):
        return f(self.value)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return (Wrapped(x) * 2.0)(self.fc)


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
