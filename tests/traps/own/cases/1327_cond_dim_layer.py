import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.small = nn.Conv2D(3, 2, 1)
        self.large = nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, x):
        if x.shape[2] > 12:
            y = self.large(x)
        else:
            y = self.small(x)
        return y.mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 16, 2.0), (1, 8, 24, -2.0), (3, 13, 9, 0.5), (4, 32, 16, -0.5))
    ]
