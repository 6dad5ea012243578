import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        b = x.shape[0]
        q, k, v = self.qkv(x).reshape([b, 3, self.heads, 4]).unbind(axis=1)
        att = F.softmax(paddle.einsum("bhd,bgd->bhg", q, k), axis=-1)
        return paddle.einsum("bhg,bgd->bhd", att, v).reshape([b, 8])


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
