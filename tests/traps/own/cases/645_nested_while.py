import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def forward(self, x):
        i = paddle.zeros([1], dtype="int64")
        total = paddle.zeros([1])
        while i < 2:
            j = paddle.zeros([1], dtype="int64")
            while j < 3:
                total = total + x.sum() * 0.1
                j = j + 1
            i = i + 1
        return total


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
