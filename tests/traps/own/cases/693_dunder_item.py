import numpy as np
import paddle
import paddle.nn as nn


class Bank:
    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, i):
        return self.parts[i]

    def __len__(self):
        return len(self.parts)


class Net(nn.Layer):
    def forward(self, x):
        bank = Bank([x * 2.0, x + 1.0, paddle.tanh(x)])
        total = x * 0.0
        for i in range(len(bank)):
            total = total + bank[i]
        return total


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
