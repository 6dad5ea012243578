import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(60, 6)
        self.pi = np.pi

    def forward(self, x):
        flat = int(np.prod(x.shape[1:]))
        half = int(np.ceil(x.shape[-1] / 2))
        y = self.fc(x.reshape([-1, flat])) / np.sqrt(flat)
        return paddle.sin(y * self.pi)[:, :half]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 3, 5], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(37)
    return [
        ((rng.standard_normal((n, 4, 3, 5)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
