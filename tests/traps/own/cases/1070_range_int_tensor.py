import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, k):
        for _ in range(int(k)):
            x = F.tanh(self.fc(x))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "k", "shape": [], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"), np.array(k, dtype="int64"))
        for n, s, k in ((2, 2.0, 1), (1, -2.0, 3), (3, 0.5, 2), (5, -0.5, 0))
    ]
