import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SE(nn.Layer):
    def __init__(self, ch, r=2):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(ch, max(1, ch // r), 1)
        self.fc2 = nn.Conv2D(max(1, ch // r), ch, 1)

    def forward(self, x):
        w = self.pool(x)
        w = F.relu(self.fc1(w))
        return x * F.hardsigmoid(self.fc2(w), slope=0.2, offset=0.5)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, padding=1)
        self.se = SE(4)

    def forward(self, x):
        return self.se(self.conv(x)).flatten(2).mean(-1)


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
