import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 2, 2)
        self.stride = 2

    def forward(self, x):
        feat = self.conv(x)
        return {"feat": feat, "stride": self.stride}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(14)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
