import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, limit=1.0):
        super().__init__()
        self.limit = limit
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        y = self.fc(x)
        norm = paddle.linalg.norm(y)
        if norm > self.limit:
            y = y * (self.limit / norm)
        return y


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
