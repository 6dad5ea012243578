import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, gate=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.gate = gate

    def forward(self, x):
        y = self.fc(x)
        if self.gate and y.mean() > 0:
            y = y * 2.0
        if not self.gate or y.max() < 5:
            y = y + 1.0
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(28)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
