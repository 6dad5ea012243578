import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.exit = nn.Linear(8, 4)

    def confident(self, logits):
        return F.softmax(logits, axis=-1).max() > 0.5

    def forward(self, x):
        h = F.relu(self.a(x))
        first = self.exit(h)
        if self.confident(first):
            return first
        return self.exit(F.relu(self.b(h)))


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
