import functools
import math

import numpy as np
import paddle
import paddle.nn as nn


@functools.lru_cache(maxsize=None)
def sinusoid(length, width):
    pos = np.arange(length)[:, None]
    div = np.exp(np.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = np.zeros((length, width), "float32")
    table[:, 0::2] = np.sin(pos * div)
    table[:, 1::2] = np.cos(pos * div)
    return table


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("pe", paddle.to_tensor(sinusoid(16, 8)).unsqueeze(0))
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x + self.pe[:, : x.shape[1]])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(68)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
