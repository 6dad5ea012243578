import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.perm = random.sample(range(8), 8)
        self.keep = sorted(np.random.permutation(8)[:4].tolist())
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = paddle.index_select(x, paddle.to_tensor(self.perm), axis=1)
        return self.fc(paddle.stack([x[:, i] for i in self.keep], axis=1))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(84)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
