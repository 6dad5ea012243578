import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.halt = nn.Linear(8, 1)

    def forward(self, x):
        total = paddle.zeros([1])
        out = paddle.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            total = total + F.sigmoid(self.halt(x[:, t])).mean()
            out = out + x[:, t]
            if total > 1.5:
                break
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 3, 2.0), (1, 5, -2.0), (3, 1, 0.5), (5, 4, -0.5))
    ]
