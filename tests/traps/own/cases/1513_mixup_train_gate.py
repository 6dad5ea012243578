import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, alpha=0.2):
        super().__init__()
        self.alpha = alpha
        self.fc = nn.Linear(8, 3)

    def mixup(self, x):
        lam = np.random.beta(self.alpha, self.alpha)
        index = paddle.randperm(x.shape[0])
        return lam * x + (1 - lam) * x[index]

    def forward(self, x):
        if self.training and self.alpha > 0:
            x = self.mixup(x)
        return self.fc(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(58)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
