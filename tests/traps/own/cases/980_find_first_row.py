import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def search(self, x):
        i = paddle.zeros([], dtype="int64")
        while i < 6:
            row = x[:, i]
            if row.mean() > 0.3:
                return row
            i = i + 1
        return x[:, 0]

    def forward(self, x):
        return self.fc(self.search(x))


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
