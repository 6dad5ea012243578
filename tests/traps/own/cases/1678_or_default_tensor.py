import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, bias):
        y = self.fc(x)
        shift = bias.sum() or 1.0
        return y + shift


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "bias", "shape": [4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(29)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            (rng.standard_normal((4,)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
