import numpy as np
import paddle
import paddle.nn as nn


class Env:
    def __init__(self):
        self.t = 0

    def reset(self):
        self.t = 0
        return 0.0

    def step(self, a):
        self.t += 1
        return self.t * 0.1


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.env = Env()
        self.pi = nn.Linear(8, 4)

    def forward(self, x):
        r = self.env.reset()
        logits = self.pi(x)
        for a in range(2):
            r = r + self.env.step(a)
        return logits + r


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
