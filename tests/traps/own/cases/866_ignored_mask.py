import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, masked=False):
        super().__init__()
        self.masked = masked
        self.fc = nn.Linear(8, 4)

    def forward(self, x, mask):
        y = self.fc(x)
        if self.masked:
            y = paddle.where(mask.unsqueeze(-1), y, paddle.zeros_like(y))
        return y.mean(axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
    {"name": "mask", "shape": [None, 6], "dtype": "bool"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"), rng.uniform(size=(n, 6)) > 0.3)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
