import numpy as np
import paddle
import paddle.nn as nn


class Drop(nn.Layer):
    def forward(self, x):
        if not self.training:
            return x * 1.5
        keep = paddle.rand([8]) > 0.1
        return x * keep.astype("float32")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), Drop())

    def forward(self, x):
        return self.body(x)


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
