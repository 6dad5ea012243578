import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.temp = 2.0

    def forward(self, x):
        temp = self.temp

        def gate(v, bias=0.0):
            return F.sigmoid(v / temp + bias)

        fns = [gate, lambda v: gate(v, bias=1.0)]
        y = self.fc(x)
        return sum(fn(y) for fn in fns)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(79)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
