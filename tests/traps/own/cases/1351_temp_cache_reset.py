import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)
        self.cache = []

    def step(self, x):
        self.cache.append(self.k(x))
        return paddle.stack(self.cache, axis=1).mean(axis=1)

    def forward(self, x):
        self.cache = []
        return paddle.stack([self.step(x[:, t]) for t in range(6)], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
