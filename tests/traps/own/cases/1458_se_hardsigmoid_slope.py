import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SE(nn.Layer):
    def __init__(self, c, r=2):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.c1 = nn.Conv2D(c, c // r, 1)
        self.c2 = nn.Conv2D(c // r, c, 1)

    def forward(self, inputs):
        out = self.pool(inputs)
        out = F.relu(self.c1(out))
        out = F.hardsigmoid(self.c2(out), slope=0.2, offset=0.5)
        return paddle.multiply(inputs, out)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.se = SE(4)
        self.if_shortcut = True

    def forward(self, inputs):
        x = self.se(inputs)
        if self.if_shortcut:
            x = paddle.add(inputs, x)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(3)
    return [
        ((rng.standard_normal((n, 4, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
