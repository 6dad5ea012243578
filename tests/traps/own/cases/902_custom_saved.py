from paddle.autograd import PyLayer

import numpy as np
import paddle
import paddle.nn as nn


class Clip(PyLayer):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.bounds = (low, high)
        if x.mean() > 0:
            return x.clip(low, high)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return Clip.apply(self.fc(x), -0.5, 0.5)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
