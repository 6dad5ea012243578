import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 4, 1)

    def shuffle(self, x):
        n, c, h, w = x.shape
        out = paddle.zeros([n, c, h, w], dtype=x.dtype)
        out[:, 0::2] = x[:, : c // 2]
        out[:, 1::2] = x[:, c // 2 :]
        return out

    def forward(self, x):
        return self.shuffle(self.conv(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 4, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(74)
    return [
        ((rng.standard_normal((n, 4, 4, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
