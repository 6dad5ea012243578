import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Coupling(nn.Layer):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, 8), nn.Tanh(), nn.Linear(8, dim))

    def forward(self, x, reverse=False):
        a, b = x.chunk(2, axis=-1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, axis=-1)
        log_s = F.tanh(log_s)
        if not reverse:
            b = b * log_s.exp() + t
            logdet = log_s.sum(-1)
        else:
            b = (b - t) * (-log_s).exp()
            logdet = -log_s.sum(-1)
        if self.flip:
            a, b = b, a
        return paddle.concat([a, b], axis=-1), logdet


class Net(nn.Layer):
    def __init__(self, n=3):
        super().__init__()
        self.flows = nn.LayerList([Coupling(6, bool(i % 2)) for i in range(n)])

    def forward(self, x):
        total = 0.0
        for flow in self.flows:
            x, logdet = flow(x)
            total = total + logdet
        prior = -0.5 * (x**2 + math.log(2 * math.pi)).sum(-1)
        return x, prior + total


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(45)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
