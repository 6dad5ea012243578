import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, n=3):
        super().__init__()
        self.ws = nn.ParameterList([self.create_parameter([6, 1]) for _ in range(n)])
        self.bs = nn.ParameterList([self.create_parameter([6], is_bias=True) for _ in range(n)])

    def forward(self, x):
        x0 = x
        for w, b in zip(self.ws, self.bs):
            x = x0 * paddle.matmul(x, w) + b + x
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(12)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
