import functools

import numpy as np
import paddle
import paddle.nn as nn


@functools.lru_cache(None)
def freqs(width):
    return [1.0 / (10 ** (2 * i / width)) for i in range(width)]


class Net(nn.Layer):
    def forward(self, x):
        return paddle.sin(x * paddle.to_tensor(freqs(x.shape[-1])))


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
