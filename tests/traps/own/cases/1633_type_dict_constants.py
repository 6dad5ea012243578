import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    DTYPES = {"float32": 1.0, "float16": 0.5}

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        eps = 1e-4 if x.dtype == paddle.float16 else 1e-8
        big = paddle.finfo(paddle.float32).min
        y = self.fc(x)
        y = paddle.where(y > 0, y, paddle.full([], big, dtype=y.dtype))
        return F.softmax(y + eps)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(81)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
