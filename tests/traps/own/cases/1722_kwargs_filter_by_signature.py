import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


import inspect


def build(cls, **options):
    known = inspect.signature(cls.__init__).parameters
    return cls(**{k: v for k, v in options.items() if k in known})


class Block(nn.Layer):
    def __init__(self, width=8, slope=0.1):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope

    def forward(self, x):
        return F.leaky_relu(self.fc(x), self.slope)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = build(Block, width=8, slope=0.2, unknown=3)

    def forward(self, x):
        return self.block(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(73)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
