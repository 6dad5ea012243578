import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, mode="train_eval"):
        super().__init__()
        self.modes = set(mode.split("_"))
        self.fc = nn.Linear(8, 8)
        self.aux = nn.Linear(8, 8)

    def forward(self, x):
        y = self.fc(x)
        if "eval" in self.modes and not self.training:
            y = y + self.aux(x)
        if {"debug"} & self.modes:
            print(y)
        if self.modes >= {"train", "eval"}:
            y = y / 2.0
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(75)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
