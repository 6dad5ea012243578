import numpy as np
import paddle
import paddle.nn as nn


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, cache=None, **kw):
        h = self.fc(x)
        if cache is not None:
            cache.append(h)
            h = h + paddle.add_n(cache)
        return h


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.memory = [paddle.zeros([1, 8])]

    def forward(self, x):
        return self.block(x.mean(axis=0, keepdim=True), cache=self.memory)


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
