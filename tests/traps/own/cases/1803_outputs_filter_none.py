import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, aux=None):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.aux = aux

    def forward(self, x):
        y = self.fc(x)
        outs = (y, self.aux(y) if self.aux is not None else None)
        return tuple(filter(lambda o: o is not None, outs))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(57)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
