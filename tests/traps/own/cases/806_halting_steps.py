import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)
        self.halt = nn.Linear(8, 1)

    def forward(self, x):
        total = paddle.zeros([1])
        h = x
        for step in range(4):
            h = F.tanh(self.cell(h))
            total = total + F.sigmoid(self.halt(h)).mean()
            if total > 1.0:
                break
        return h


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
