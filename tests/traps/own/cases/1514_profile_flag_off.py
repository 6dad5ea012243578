import time

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, profile=False):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.profile = profile
        self.times = []

    def forward(self, x):
        begin = time.time() if self.profile else 0.0
        y = F.relu(self.fc(x))
        if self.profile:
            self.times.append(time.time() - begin)
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(59)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
