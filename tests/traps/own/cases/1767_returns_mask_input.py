import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def encode(self, x, mask):
        return self.fc(x * mask), mask

    def forward(self, x, mask):
        h, mask = self.encode(x, mask)
        return h, mask


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "mask", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(21)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.random((n, 8)).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
