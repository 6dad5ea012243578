import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        t = x.shape[1]
        half = t // 2
        return self.fc(x[:, :half]).sum(1) - self.fc(x[:, half:]).sum(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(23)
    return [
        ((rng.standard_normal((n, t, 4)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
