import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, sharpen=True):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.sharpen = sharpen

    def forward(self, x):
        y = self.fc(x)
        if y.abs().mean() > 0.5:
            if self.sharpen:
                y = y * 2.0
            else:
                y = y + 1.0
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(65)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
