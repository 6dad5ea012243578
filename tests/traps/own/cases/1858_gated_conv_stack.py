import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.dilated = nn.LayerList([nn.Conv1D(4, 8, 3, padding=2**i, dilation=2**i) for i in range(2)])
        self.skip = nn.LayerList([nn.Conv1D(4, 4, 1) for _ in range(2)])

    def forward(self, x):
        total = None
        for conv, skip in zip(self.dilated, self.skip):
            a, b = paddle.chunk(conv(x), 2, axis=1)
            z = paddle.tanh(a) * F.sigmoid(b)
            s = skip(z)
            total = s if total is None else total + s
            x = (x + z) * math.sqrt(0.5)
        return F.relu(total)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(15)
    return [
        ((rng.standard_normal((n, 4, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
