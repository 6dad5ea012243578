import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p
        self.fc = nn.Linear(8, 8)

    def mask(self, n):
        return (np.random.random_sample(n) > self.p).astype("float32")

    def forward(self, x):
        return self.fc(x) * paddle.to_tensor(self.mask(8)) / (1 - self.p)


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
