import collections

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        for name in ("pitch", "energy", "duration"):
            setattr(self, name, nn.Linear(8, 1))

    def forward(self, x):
        out = collections.OrderedDict()
        for name in ("pitch", "energy", "duration"):
            out[name] = getattr(self, name)(x)
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(13)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
