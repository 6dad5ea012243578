import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.mode = "plain"

    def apply_mode(self, x):
        return x * 2.0 if self.mode == "double" else x

    def forward(self, x):
        before = self.mode
        self.mode = "double"
        y = self.apply_mode(self.fc(x))
        self.mode = before
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(75)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
