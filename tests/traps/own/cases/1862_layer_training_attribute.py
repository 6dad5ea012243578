import numpy as np
import paddle.nn as nn


class Attn(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        self.training = True
        y = self.fc(x)
        return y * 2.0 if self.training else y


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attn = Attn()
        self.bn = nn.BatchNorm1D(4)

    def forward(self, x):
        return self.bn(self.attn(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(19)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
