import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, depth=0):
        super().__init__()
        self.depth = depth
        self.fc = nn.Linear(8, 8)
        self.more = nn.LayerList([nn.Linear(8, 8) for _ in range(depth)])

    def refine(self, y):
        if not len(self.more):
            return y
        for layer in self.more:
            y = layer(y)
        return F.relu(y)

    def forward(self, x):
        return self.refine(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(81)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
