import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    @property
    def dtype(self):
        return self.fc.weight.dtype

    def forward(self, x):
        x = x.astype(self.dtype)
        y = self.fc(x)
        mask = paddle.ones([4], dtype=self.dtype)
        return (y * mask).astype("float32")


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(85)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
