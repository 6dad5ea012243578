import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, heads=2):
        super().__init__()
        self.w = self.create_parameter([heads, 8, 8])

    def forward(self, x, y):
        s = paddle.einsum("btd,hde,bse->bhts", x, self.w, y)
        return F.softmax(s, axis=-1).mean(axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
    {"name": "y", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(88)
    return [
        (
            (rng.standard_normal((n, t, 8)) + s).astype("float32"),
            (rng.standard_normal((n, t, 8)) + s).astype("float32"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
