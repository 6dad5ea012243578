import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, groups=2):
        super().__init__()
        self.groups = groups
        self.conv = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        x = self.conv(x)
        n, c, h, w = x.shape
        x = paddle.reshape(x, [n, self.groups, c // self.groups, h, w])
        x = paddle.transpose(x, [0, 2, 1, 3, 4])
        return paddle.reshape(x, [n, c, h, w]).mean(axis=[2, 3])


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
