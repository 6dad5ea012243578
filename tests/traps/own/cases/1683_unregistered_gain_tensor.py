import numpy as np
import paddle
import paddle.nn as nn


class Scale:
    def __init__(self, width):
        self.gain = paddle.linspace(0.5, 1.5, width)

    def __call__(self, x):
        return x * self.gain


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.scale = Scale(4)

    def forward(self, x):
        return self.scale(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(34)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
