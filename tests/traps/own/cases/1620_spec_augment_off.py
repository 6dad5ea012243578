import random

import numpy as np
import paddle.nn as nn


class SpecAugment(nn.Layer):
    def __init__(self, max_width=3):
        super().__init__()
        self.max_width = max_width

    def forward(self, x):
        if not self.training:
            return x
        t = x.shape[1]
        width = random.randint(0, self.max_width)
        start = random.randint(0, t - width)
        x[:, start : start + width] = 0.0
        return x


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.aug = SpecAugment()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.aug(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(68)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
