import numpy as np
import paddle.nn as nn


class Schedule:
    def __init__(self):
        self.step = 0

    def __float__(self):
        self.step += 1
        return 1.0 / self.step


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.schedule = Schedule()

    def forward(self, x):
        return self.fc(x) * float(self.schedule)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(36)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
