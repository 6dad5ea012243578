import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.dct = np.cos(np.outer(np.arange(6), np.arange(6)) / 6).astype("float32")
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        y = self.dct @ x
        return self.fc(y)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(15)
    return [
        ((rng.standard_normal((n, 6, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
