import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        z = paddle.zeros_like(x)
        done = False
        steps = 0
        while not done and steps < 5:
            new = F.tanh(self.fc(z) * 0.1 + x)
            done = float((new - z).abs().max()) < 1e-2
            z = new
            steps += 1
        return z


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(8)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
