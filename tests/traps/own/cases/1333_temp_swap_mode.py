import contextlib

import numpy as np
import paddle
import paddle.nn as nn


@contextlib.contextmanager
def training_mode(layer):
    was = layer.training
    layer.train()
    yield layer
    layer.train() if was else layer.eval()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2D(3)

    def forward(self, x):
        with training_mode(self.bn) as bn:
            return bn(x).mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
