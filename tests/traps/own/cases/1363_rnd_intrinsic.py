import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.target = nn.Linear(8, 4)
        self.predictor = nn.Linear(8, 4)
        for p in self.target.parameters():
            p.stop_gradient = True

    def forward(self, x):
        with paddle.no_grad():
            t = self.target(x)
        return ((self.predictor(x) - t) ** 2).mean(axis=-1)


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
