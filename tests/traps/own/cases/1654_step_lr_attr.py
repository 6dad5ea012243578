import numpy as np
import paddle.nn as nn


class WarmScale:
    def __init__(self, warm=3):
        self.t = 0
        self.warm = warm

    def step(self):
        self.t = min(self.t + 1, self.warm)
        return self.t / self.warm


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.warm = WarmScale()

    def forward(self, x):
        return self.fc(x) * self.warm.step()


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(5)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
