import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.steps = nn.LayerList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        done = paddle.zeros([x.shape[0], 1], dtype="bool")
        for step in self.steps:
            new = F.relu(step(x))
            x = paddle.where(done, x, new)
            done = paddle.logical_or(done, x.mean(axis=-1, keepdim=True) > 0.5)
        return x


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
