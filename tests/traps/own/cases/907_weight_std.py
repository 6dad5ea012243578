import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class WSConv(nn.Conv2D):
    def forward(self, x):
        w = self.weight
        mean = w.mean(axis=[1, 2, 3], keepdim=True)
        std = w.std(axis=[1, 2, 3], keepdim=True)
        w = (w - mean) / (std + 1e-5)
        return F.conv2d(x, w, self.bias, self._stride, self._padding)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = WSConv(3, 4, 3, padding=1)

    def forward(self, x):
        return self.conv(x).mean(axis=[2, 3])


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
