import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, use_cond=False):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.proj = nn.Linear(4, 4) if use_cond else None

    def forward(self, x, cond):
        h = self.fc(x)
        if self.proj is not None:
            h = h + self.proj(cond)
        return F.relu(h)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "cond", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(23)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            (rng.standard_normal((n, 4)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
