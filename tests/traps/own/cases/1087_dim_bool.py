import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        odd = bool(x.shape[1] % 2)
        y = self.fc(x).sum(axis=1)
        return -y if odd else y


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
