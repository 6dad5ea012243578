import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, kind="mean"):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.reduce = {"mean": self._mean, "sum": self._sum}[kind]

    def _mean(self, y):
        return y.mean(-1)

    def _sum(self, y):
        return y.sum(-1)

    def forward(self, x):
        return self.reduce(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(18)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
