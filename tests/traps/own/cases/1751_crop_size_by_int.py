import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 2, 1)

    def forward(self, x):
        side = min(x.shape[2], x.shape[3])
        y = self.conv(x)
        return y[:, :, :side, :side].mean([2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(5)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
