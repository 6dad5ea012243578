import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.scope = []

    def inner(self, x):
        self.scope.append("inner")
        y = self.fc(x) * len(self.scope[-1])
        self.scope.pop()
        return y

    def forward(self, x):
        return self.inner(x) + self.inner(x * 0.5)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(45)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
