import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, size=16):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(3, 4, 3, 2), nn.ReLU(), nn.Conv2D(4, 4, 3, 2), nn.Flatten())
        with paddle.no_grad():
            width = self.body(paddle.zeros([1, 3, size, size])).shape[1]
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.body(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(70)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
