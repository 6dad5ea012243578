import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, rank=4, seed=7):
        super().__init__()
        rng = np.random.RandomState(seed)
        q, _ = np.linalg.qr(rng.randn(8, 8))
        self.register_buffer("basis", paddle.to_tensor(q[:, :rank].astype("float32")))
        self.fc = nn.Linear(rank, 2)

    def forward(self, x):
        return self.fc(paddle.cos(x @ self.basis))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(57)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
