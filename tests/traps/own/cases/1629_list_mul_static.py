import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        rank = len(x.shape)
        ones = [1] * (rank - 1)
        w = paddle.linspace(0.5, 1.5, 4).reshape(ones + [4])
        perm = list(range(rank))
        perm[1], perm[2] = perm[2], perm[1]
        return paddle.transpose(self.fc(x * w), perm)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 2, 3, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(77)
    return [
        ((rng.standard_normal((n, 2, 3, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
