from types import SimpleNamespace

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cfg = SimpleNamespace(act="relu", depth=2)
        self.layers = nn.LayerList([nn.Linear(8, 8) for _ in range(self.cfg.depth)])

    def forward(self, x):
        for layer in self.layers:
            x = getattr(F, self.cfg.act)(layer(x))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
