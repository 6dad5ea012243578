import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, fold_div=4):
        super().__init__()
        self.fold_div = fold_div
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        n, t, c = x.shape
        fold = c // self.fold_div
        zero = paddle.zeros_like(x[:, :1, :fold])
        left = paddle.concat([x[:, 1:, :fold], zero], axis=1)
        right = paddle.concat([zero, x[:, :-1, fold : 2 * fold]], axis=1)
        rest = x[:, :, 2 * fold :]
        return self.fc(paddle.concat([left, right, rest], axis=2))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(74)
    return [
        ((rng.standard_normal((n, 4, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
