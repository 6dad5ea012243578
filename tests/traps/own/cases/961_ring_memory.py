import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, size=4):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.size = size
        self.memory = []

    def remember(self, item):
        self.memory.append(item)
        while len(self.memory) > self.size:
            del self.memory[0]

    def forward(self, x):
        y = self.fc(x)
        self.remember(y.mean(axis=0))
        return y + paddle.stack(self.memory).mean(axis=0)


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
