import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    names = ["q", "k", "v"]

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 12)

    def pick(self, y, name):
        i = self.names.index(name)
        return y[:, i * 4 : (i + 1) * 4]

    def forward(self, x):
        y = self.qkv(x)
        return F.softmax(self.pick(y, "q") * self.pick(y, "k")) * self.pick(y, "v")


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(65)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
