import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self._mask = None

    def mask(self, t):
        if self._mask is None or self._mask.shape[0] < t:
            self._mask = paddle.tril(paddle.ones([t, t]))
        return self._mask[:t, :t]

    def forward(self, x):
        w = paddle.matmul(x, x, transpose_y=True)
        w = w * self.mask(x.shape[1])
        return paddle.matmul(w, x)


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
