import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        flat = y.flatten(1)
        flat[:, -1] = 7.0
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 2, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(40)
    return [
        ((rng.standard_normal((n, 2, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
