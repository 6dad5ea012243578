import random

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, probs=(0.0, 0.1, 0.2)):
        super().__init__()
        self.probs = probs
        self.fcs = nn.LayerList([nn.Linear(8, 8) for _ in probs])

    def forward(self, x):
        for p, fc in zip(self.probs, self.fcs):
            if self.training and random.random() < p:
                continue
            y = fc(x)
            x = x + (y / (1 - p) if self.training else y)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(64)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
