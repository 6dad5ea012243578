import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        top = y[:, :1].clone()
        y = paddle.concat([top * 2.0, y[:, 1:]], axis=1)
        z = paddle.full([1, 4, 6], 0.5)
        z[:, 1:3] = 1.0
        return y * z


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(77)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
