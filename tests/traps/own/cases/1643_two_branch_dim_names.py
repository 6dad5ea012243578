import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        if paddle.in_dynamic_mode():
            assert x.ndim == 3, "batch, time, width"
            b, t = x.shape[:2]
        else:
            b, t = paddle.shape(x)[0], paddle.shape(x)[1]
        y = self.fc(x).reshape([b, t * 8])
        return y.sum(-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(91)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
