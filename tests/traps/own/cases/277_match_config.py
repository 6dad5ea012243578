import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, act="gelu"):
        super().__init__()
        self.act = act

    def forward(self, x):
        match self.act:
            case "relu":
                return F.relu(x)
            case "gelu":
                return F.gelu(x)
            case _:
                return x + 1.0


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
