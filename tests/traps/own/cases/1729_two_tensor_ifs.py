import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def clip(self, y, limit=1.0):
        norm = y.norm()
        if norm > limit:
            y = y * (limit / norm)
        return y

    def forward(self, x):
        y = self.clip(self.fc(x))
        if y.min() < 0:
            y = y - y.min()
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(80)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
