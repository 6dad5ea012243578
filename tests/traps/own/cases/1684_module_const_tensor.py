import numpy as np
import paddle
import paddle.nn as nn


MEAN = paddle.to_tensor([0.4, 0.5, 0.6])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x - MEAN)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(35)
    return [
        ((rng.standard_normal((n, 3)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
