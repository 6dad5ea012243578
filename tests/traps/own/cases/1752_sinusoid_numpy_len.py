import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def table(self, n):
        pos = np.arange(0, n)[:, None]
        return np.sin(pos / np.array([1.0, 10.0, 100.0, 1000.0])).astype("float32")

    def forward(self, x):
        return self.fc(x) + paddle.to_tensor(self.table(x.shape[1]))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(6)
    return [
        ((rng.standard_normal((n, t, 4)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
