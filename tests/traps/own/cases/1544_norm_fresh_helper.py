import numpy as np
import paddle.nn as nn


def add_norm(x, y):
    return nn.LayerNorm(x.shape[-1])(x + y)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.ff = nn.Linear(8, 8)

    def forward(self, x):
        x = add_norm(x, self.fc(x))
        return add_norm(x, self.ff(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(89)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
