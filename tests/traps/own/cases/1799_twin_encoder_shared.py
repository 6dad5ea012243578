import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(8, 4), nn.Tanh())

    def encode(self, *views):
        return [F.normalize(self.enc(v), axis=-1) for v in views]

    def forward(self, x, y):
        za, zb = self.encode(x, y)
        return za, zb, (za * zb).sum(-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "y", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(53)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            (rng.standard_normal((n, 8)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
