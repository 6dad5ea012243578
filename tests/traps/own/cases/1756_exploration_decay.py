import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    epsilon = 1.0

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 3)

    def forward(self, x):
        q = self.q(x)
        Net.epsilon = max(0.1, Net.epsilon * 0.5)
        return q * (1 - Net.epsilon)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(10)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
