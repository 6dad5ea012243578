import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, n_heads=2):
        super().__init__()
        self.heads = nn.LayerList([nn.Linear(8, 4) for _ in range(n_heads)])
        self.register_buffer("turn", paddle.zeros([1], dtype="int64"))
        self.index = 0

    def _next(self):
        head = self.heads[self.index % len(self.heads)]
        self.index += 1
        return head

    def forward(self, x):
        return self._next()(x)


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
