import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = x
        i = paddle.zeros([], dtype="int64")
        while i < 4:
            h = F.tanh(self.fc(h))
            if h.mean() > 0:
                h = h * 0.5
            i = i + 1
        return h


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(63)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
