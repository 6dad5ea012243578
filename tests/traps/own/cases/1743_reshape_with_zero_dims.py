import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = x.reshape([0, 0, 2, 4])
        y = self.fc(y)
        return y.reshape([0, -1]).mean(-1), paddle.reshape(y, shape=[-1, 8])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(94)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
