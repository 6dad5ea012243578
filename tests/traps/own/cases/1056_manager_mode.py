import contextlib

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.scale = 1.0

    @contextlib.contextmanager
    def scaled(self, by):
        before, self.scale = self.scale, by
        yield
        self.scale = before

    def run(self, x):
        return self.fc(x) * self.scale

    def forward(self, x):
        plain = self.run(x)
        with self.scaled(3.0):
            return plain + self.run(x)


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
