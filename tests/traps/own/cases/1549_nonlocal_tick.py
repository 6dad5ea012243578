import numpy as np
import paddle.nn as nn


def ticker():
    n = 0

    def tick():
        nonlocal n
        n += 1
        return n

    return tick


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.tick = ticker()

    def forward(self, x):
        y = self.fc(x)
        if self.tick() > 1:
            y = y + 1.0
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(94)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
