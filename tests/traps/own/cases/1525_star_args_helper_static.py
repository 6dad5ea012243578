import numpy as np
import paddle.nn as nn


def fuse(*feats, weights=None):
    weights = weights or [1.0 / len(feats)] * len(feats)
    total = 0
    for f, w in zip(feats, weights):
        total += f * w
    return total


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(8, 4) for _ in range(3))

    def forward(self, x):
        return fuse(self.a(x), self.b(x), self.c(x), weights=(0.2, 0.3, 0.5))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(70)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
