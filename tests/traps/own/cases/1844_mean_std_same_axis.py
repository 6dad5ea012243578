import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        stats = [getattr(y, name)(axis=1) for name in ("mean", "max", "min")]
        return tuple(stats) + (y.sum(axis=1),)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(1)
    return [
        ((rng.standard_normal((n, t, 6)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
