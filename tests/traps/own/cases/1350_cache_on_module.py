import numpy as np
import paddle
import paddle.nn as nn


class Attn(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)
        self.cache_k = None

    def forward(self, x):
        k = self.k(x).mean(axis=0, keepdim=True)
        if self.cache_k is None:
            self.cache_k = k
        else:
            self.cache_k = paddle.concat([self.cache_k, k], axis=1)
        return x + self.cache_k.mean(axis=1, keepdim=True)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attn = Attn()

    def forward(self, x):
        return self.attn(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
