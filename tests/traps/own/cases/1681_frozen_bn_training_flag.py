import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 4, 1)
        self.bn = nn.BatchNorm2D(4)

    def forward(self, x):
        self.bn.training = True
        return F.relu(self.bn(self.conv(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(32)
    return [
        ((rng.standard_normal((n, 4, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
