import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def forward(self, x):
        ys, xs = paddle.meshgrid(paddle.arange(2), paddle.arange(4))
        grid = paddle.stack([ys.flatten(), xs.flatten()]).astype(x.dtype)
        return x + grid[0] * 0.1 + grid[1]


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
