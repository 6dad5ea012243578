import numpy as np
import paddle
import paddle.nn as nn


def pairs(items, f):
    if len(items) == 1:
        return items[0]
    return f(items[0], pairs(items[1:], f))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return pairs([x[:, i] for i in range(6)], lambda a, b: a + self.fc(b))


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
