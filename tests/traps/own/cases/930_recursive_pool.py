import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def pool(self, x, depth):
        if depth == 0 or x.shape[1] == 1:
            return x.mean(axis=1)
        half = x.shape[1] // 2
        return self.pool(x[:, :half], depth - 1) + self.pool(x[:, half:], depth - 1)

    def forward(self, x):
        return self.fc(self.pool(x, 2))


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
