import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        s = self.fc(x)
        before = s.clone()
        s.clip_(min=0.0)
        return s - before


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 5], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(21)
    return [
        ((rng.standard_normal((n, 5, 5)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
