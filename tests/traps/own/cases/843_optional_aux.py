import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, with_aux=False):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.aux = nn.Linear(8, 2) if with_aux else None

    def forward(self, x):
        aux = self.aux(x) if self.aux is not None else None
        return self.fc(x), aux


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
