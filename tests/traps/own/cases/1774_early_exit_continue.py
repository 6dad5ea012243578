import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(6, 6) for _ in range(3)])

    def forward(self, x):
        for fc in self.fcs:
            y = fc(x)
            if y.mean() < 0:
                continue
            x = F.relu(y)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(28)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
