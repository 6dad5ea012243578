import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.halt = nn.Linear(8, 1)

    def forward(self, x):
        budget = paddle.zeros([x.shape[0], 1])
        out = paddle.zeros([x.shape[0], 8])
        for t in range(x.shape[1]):
            p = F.sigmoid(self.halt(x[:, t]))
            if (budget + p).min() > 1.0:
                break
            budget = budget + p
            out = out + p * x[:, t]
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
