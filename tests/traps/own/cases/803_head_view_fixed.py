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
        b, t, c = x.shape
        qkv = self.qkv(x).reshape([b, t, 3, self.heads, c // self.heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0], qkv[1], qkv[2]
        w = F.softmax(paddle.matmul(q, k, transpose_y=True), axis=-1)
        return paddle.matmul(w, v).transpose([0, 2, 1, 3]).reshape([b, t, c])


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
