import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class CoordConv(nn.Layer):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2D(cin + 2, cout, 3, padding=1)

    def forward(self, x):
        n, h, w = paddle.shape(x)[0], x.shape[2], x.shape[3]
        gx = paddle.linspace(-1, 1, w).reshape([1, 1, 1, w]).expand([n, 1, h, w])
        gy = paddle.linspace(-1, 1, h).reshape([1, 1, h, 1]).expand([n, 1, h, w])
        return self.conv(paddle.concat([x, gx, gy], axis=1))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = CoordConv(3, 4), CoordConv(4, 4)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(16)
    return [
        ((rng.standard_normal((n, 3, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
