import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


def make_head(width):
    proj = nn.Linear(8, width)

    def head(x):
        return F.relu(proj(x))

    return head


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.head = make_head(4)

    def forward(self, x):
        return self.head(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(41)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
