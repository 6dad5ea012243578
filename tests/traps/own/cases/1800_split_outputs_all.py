import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 9)

    def forward(self, x):
        a, b, c = self.fc(x).split(3, axis=1)
        return a, b, c


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 9], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(54)
    return [
        ((rng.standard_normal((n, 9)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
