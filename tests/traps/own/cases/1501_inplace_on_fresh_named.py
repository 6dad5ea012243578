import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1D(4, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        y = F.relu_(y)
        y = y.scale_(2.0)
        y = y.unsqueeze_(1)
        return y.add_(paddle.ones([1]))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(46)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
