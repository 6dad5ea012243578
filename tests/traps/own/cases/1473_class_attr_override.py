import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Base(nn.Layer):
    expansion = 1
    act_fn = staticmethod(F.relu)

    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, width * self.expansion)

    def head(self, x):
        raise NotImplementedError

    def forward(self, x):
        return self.head(self.act_fn(self.fc(x)))


class Net(Base):
    expansion = 2
    act_fn = staticmethod(F.silu)

    def head(self, x):
        a, b = x.chunk(self.expansion, axis=-1)
        return a * b


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(18)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
