import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, parts=(("a", 4), ("b", 6), ("c", 2))):
        super().__init__()
        self.offsets = {}
        at = 0
        for name, size in parts:
            self.offsets[name] = (at, at + size)
            at += size
        self.fc = nn.Linear(at, at)

    def slice(self, y, name):
        lo, hi = self.offsets[name]
        return y[:, lo:hi]

    def forward(self, x):
        y = self.fc(x)
        names = sorted(self.offsets)
        return [self.slice(y, name) * (i + 1) for i, name in enumerate(names)]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(63)
    return [
        ((rng.standard_normal((n, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
