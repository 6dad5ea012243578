import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, limit=3):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.limit = limit

    def forward(self, x):
        step = 0
        while True:
            x = F.tanh(self.fc(x))
            step += 1
            if step >= self.limit:
                return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(29)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
