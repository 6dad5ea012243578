import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Bank:
    def __init__(self):
        self.proj = nn.Linear(8, 4)

    def __call__(self, x):
        return self.proj(x)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.bank = Bank()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.bank(F.relu(self.fc(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(23)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
