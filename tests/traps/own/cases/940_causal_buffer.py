import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        mask = paddle.tril(paddle.ones([16, 16]))
        self.register_buffer("mask", mask, persistable=False)

    def forward(self, x):
        t = x.shape[1]
        w = paddle.matmul(x, x, transpose_y=True)
        w = paddle.where(self.mask[:t, :t] == 0, paddle.full_like(w, -1e9), w)
        return paddle.matmul(F.softmax(w, axis=-1), x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 3, 2.0), (1, 5, -2.0), (3, 1, 0.5), (5, 4, -0.5))
    ]
