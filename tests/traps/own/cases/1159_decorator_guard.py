import numpy as np
import paddle
import paddle.nn as nn


def clamp_output(limit):
    def deco(f):
        def inner(*args):
            out = f(*args)
            if out.abs().max() > limit:
                out = out / out.abs().max()
            return out

        return inner

    return deco


@clamp_output(0.5)
def project(x, w):
    return paddle.matmul(x, w)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([8, 4])

    def forward(self, x):
        return project(x, self.w)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
