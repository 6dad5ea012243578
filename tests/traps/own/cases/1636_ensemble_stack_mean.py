import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, n=3):
        super().__init__()
        self.members = nn.LayerList()
        for i in range(n):
            self.members.append(nn.Sequential(nn.Linear(8, 6), nn.ReLU() if i % 2 else nn.Tanh(), nn.Linear(6, 2)))

    def forward(self, x):
        outs = paddle.stack([m(x) for m in self.members])
        return outs.mean(axis=0), outs.std(axis=0, unbiased=False)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(84)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
