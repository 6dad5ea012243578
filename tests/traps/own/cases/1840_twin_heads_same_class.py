import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Head(nn.Layer):
    def __init__(self, width, out):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.left, self.right = Head(8, 4), Head(8, 4)
        self.more = nn.LayerList([Head(8, 4) for _ in range(2)])

    def forward(self, x):
        return self.left(x), self.right(x), self.more[0](x), self.more[1](x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(94)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
