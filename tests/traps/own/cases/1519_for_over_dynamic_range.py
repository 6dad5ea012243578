import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 4)

    def forward(self, x):
        h = paddle.zeros([x.shape[0], 4])
        for t in range(x.shape[1]):
            h = F.tanh(self.cell(paddle.concat([x[:, t], h], axis=-1)))
        return h


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(64)
    return [
        ((rng.standard_normal((n, t, 4)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
