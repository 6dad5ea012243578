import numpy as np
import paddle
import paddle.nn as nn


from paddle.autograd import PyLayer


class Floor(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.to_tensor(np.floor(x.numpy()))

    @staticmethod
    def backward(ctx, dy):
        return dy


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return Floor.apply(self.fc(x) * 4.0) / 4.0


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(33)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
