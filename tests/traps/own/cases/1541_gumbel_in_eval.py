import random

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Router(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(6, 3)

    def forward(self, x):
        logits = self.score(x)
        noise = np.random.gumbel(size=(3,)).astype("float32")
        return F.softmax(logits + paddle.to_tensor(noise))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.router = Router()
        self.out = nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.router(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(86)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
