import numpy as np
import paddle
import paddle.nn as nn


POOLS = {
    "mean": lambda t: t.mean(axis=-1),
    "max": lambda t: t.max(axis=-1),
    "first": lambda t: t[:, 0],
}


class Net(nn.Layer):
    def __init__(self, pools=("max", "first")):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.pools = [POOLS[p] for p in pools]

    def forward(self, x):
        y = self.fc(x)
        return paddle.stack([pool(y) for pool in self.pools], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(89)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
