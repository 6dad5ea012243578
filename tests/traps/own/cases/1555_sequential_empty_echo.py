import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, neck=()):
        super().__init__()
        self.neck = nn.Sequential(*[nn.Linear(8, 8) for _ in neck])
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        feat = self.neck(x)
        return feat, self.fc(feat)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(3)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
