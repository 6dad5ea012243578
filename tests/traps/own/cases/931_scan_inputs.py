import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(16, 8)

    def forward(self, x):
        def scan(f, init, xs):
            ys, carry = [], init
            for t in range(6):
                carry = f(carry, xs[:, t])
                ys.append(carry)
            return paddle.stack(ys, axis=1)

        def cell(h, u):
            return F.tanh(self.cell(paddle.concat([h, u], axis=-1)))

        return scan(cell, paddle.zeros_like(x[:, 0]), x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
