import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mean = [0.485, 0.456, 0.406]
        self.std = np.array([0.229, 0.224, 0.225], "float32").reshape(1, 3, 1, 1)
        self.conv = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        mean = paddle.to_tensor(self.mean).reshape([1, 3, 1, 1])
        std = paddle.to_tensor(self.std)
        return self.conv((x - mean) / std)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 4, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(48)
    return [
        ((rng.standard_normal((n, 3, 4, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
