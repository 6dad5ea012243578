import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)
        self.v = nn.Linear(8, 8)

    def step(self, token, past):
        k, v = self.k(token), self.v(token)
        if past is not None:
            k = paddle.concat([past[0], k], axis=1)
            v = paddle.concat([past[1], v], axis=1)
        w = F.softmax(paddle.matmul(token, k, transpose_y=True), axis=-1)
        return paddle.matmul(w, v), (k, v)

    def forward(self, x):
        past, outs = None, []
        for t in range(6):
            y, past = self.step(x[:, t : t + 1], past)
            outs.append(y)
        return paddle.concat(outs, axis=1)


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
