from functools import lru_cache

import numpy as np
import paddle
import paddle.nn as nn


@lru_cache(maxsize=None)
def sinusoid(length, width):
    pos = paddle.arange(length, dtype="float32").unsqueeze(1)
    freq = paddle.exp(paddle.arange(0, width, 1, dtype="float32") * -0.3)
    return paddle.sin(pos * freq)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.first = sinusoid(6, 8).sum().item()

    def forward(self, x):
        return self.fc(x + sinusoid(6, 8))


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
