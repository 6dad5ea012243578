import numpy as np
import paddle
import paddle.nn as nn


def drop_path(x, p, training=True):
    if p == 0.0 or not training:
        return x
    keep = paddle.rand([x.shape[0], 1]) > p
    return x * keep.astype("float32") / (1 - p)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return drop_path(self.fc(x), 0.5)


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
