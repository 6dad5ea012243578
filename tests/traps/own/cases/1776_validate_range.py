import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


def validate(t, name):
    if (t.abs() > 1e3).any():
        raise ValueError(f"{name} is out of range")
    return t


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        return F.relu(validate(self.fc(x), "hidden"))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(30)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
