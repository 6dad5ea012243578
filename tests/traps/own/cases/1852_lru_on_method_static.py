import functools

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @functools.lru_cache(maxsize=None)
    def pairs(self, n):
        return [(i, j) for i in range(n) for j in range(i + 1, n)]

    def forward(self, x):
        y = self.fc(x)
        return paddle.stack([(y[:, i] * y[:, j]).sum(-1) for i, j in self.pairs(x.shape[1])], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(9)
    return [
        ((rng.standard_normal((n, 6, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
