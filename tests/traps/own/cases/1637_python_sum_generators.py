import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(8, 4) for _ in range(3)])
        self.weights = (0.2, 0.3, 0.5)
        assert abs(sum(self.weights) - 1.0) < 1e-6

    def forward(self, x):
        return sum(w * fc(x) for w, fc in zip(self.weights, self.fcs))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(85)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
