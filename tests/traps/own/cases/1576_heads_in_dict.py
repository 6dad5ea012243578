import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, tasks=("cls", "reg")):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        self.heads = {t: nn.Linear(8, 2) for t in tasks}

    def forward(self, x):
        h = F.relu(self.trunk(x))
        return tuple(head(h) for head in self.heads.values())


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(24)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
