import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2D(3, 4, 3, padding=1), nn.BatchNorm2D(4)
        self.skip = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        y = self.bn(self.conv(x))
        y = F.relu_(y)
        z = self.skip(x)
        z = z.add_(y)
        return z


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(72)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
