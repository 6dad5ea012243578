import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def mask_first(self, t):
        t[:, 0] = 0.0

    def forward(self, x):
        y = self.fc(x)
        self.mask_first(y)
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(36)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
