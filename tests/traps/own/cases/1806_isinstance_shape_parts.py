import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, size=None):
        y = self.fc(x)
        if isinstance(size, int):
            size = (size, size)
        if isinstance(size, (tuple, list)):
            y = y.reshape([-1, *size])
        if isinstance(y.shape[-1], int) and y.shape[-1] > 4:
            y = y[:, :4]
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(60)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
