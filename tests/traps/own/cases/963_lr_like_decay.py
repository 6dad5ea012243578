import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Schedule:
    def __init__(self, gamma):
        self.gamma, self.value = gamma, 1.0

    def step(self):
        self.value = self.value * self.gamma
        return self.value


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.temperature = Schedule(0.5)

    def forward(self, x):
        return F.softmax(self.fc(x) / self.temperature.step(), axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
