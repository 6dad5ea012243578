import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Attn(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, cache=None, use_cache=False):
        k, v = self.k(x), self.v(x)
        if cache is not None:
            k = paddle.concat([cache[0], k], axis=1)
            v = paddle.concat([cache[1], v], axis=1)
        out = paddle.matmul(F.softmax(paddle.matmul(x, k, transpose_y=True)), v)
        return (out, (k, v)) if use_cache else out


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attn = Attn()

    def forward(self, x):
        first, cache = self.attn(x[:, :3], use_cache=True)
        second = self.attn(x[:, 3:], cache=cache)
        return paddle.concat([first, second], axis=1)


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
