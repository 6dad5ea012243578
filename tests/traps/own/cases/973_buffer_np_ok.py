import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        mean = np.array([0.4, 0.5, 0.6], dtype="float32").reshape(1, 3, 1, 1)
        self.register_buffer("mean", paddle.to_tensor(mean))
        self.conv = nn.Conv2D(3, 2, 3)

    def forward(self, x):
        return self.conv((x - self.mean) / 0.2).mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
