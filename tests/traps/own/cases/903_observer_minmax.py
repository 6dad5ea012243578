import numpy as np
import paddle
import paddle.nn as nn


class Observer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("hi", paddle.zeros([1]))

    def forward(self, x):
        self.hi = paddle.maximum(self.hi, x.abs().max())
        return x * 127.0 / self.hi


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.observe = Observer()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.observe(x))


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
