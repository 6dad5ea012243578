import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, kind):
        y = self.fc(x)
        if kind in (0, 2):
            y = F.relu(y)
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "kind", "shape": [1], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(27)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.integers(0, 3, (1,)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
