import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.build_head(4)

    def build_head(self, width):
        self.head = nn.Linear(8, width)

    def forward(self, x):
        if getattr(self, "head", None) is None:
            self.build_head(x.shape[-1] // 2)
        return self.head(F.relu(self.fc(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(25)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
