import numpy as np
import paddle.nn as nn


class Scaler:
    def __init__(self, factor):
        self.factor = factor
        self.act = nn.ReLU()

    def __call__(self, x):
        return self.act(x) * self.factor


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.post = [Scaler(0.5), Scaler(2.0)]

    def forward(self, x):
        y = self.fc(x)
        for step in self.post:
            y = step(y)
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(79)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
