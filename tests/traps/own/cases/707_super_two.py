import numpy as np
import paddle
import paddle.nn as nn


class A(nn.Layer):
    def feats(self, x):
        return paddle.tanh(x)

    def forward(self, x):
        return self.feats(x) * 1.5


class B(A):
    def feats(self, x):
        return super().feats(x) * 3.0


class Net(B):
    def feats(self, x):
        return super().feats(x) * 0.5


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
