import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 4, 1)

    def forward(self, x):
        y = F.relu(self.conv(x))
        y = nn.Dropout2D(0.3)(y)
        return y.mean([2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(88)
    return [
        ((rng.standard_normal((n, 4, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
