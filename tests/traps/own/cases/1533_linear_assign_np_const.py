import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        eye = np.eye(4, dtype="float32")
        self.perm = [int(i) for i in np.argsort([2, 0, 3, 1])]
        self.eye = self.create_parameter([4, 4], default_initializer=nn.initializer.Assign(eye))
        self.eye.stop_gradient = True

    def forward(self, x):
        y = x.matmul(self.eye)
        y = paddle.stack([y[:, i] for i in self.perm], axis=1)
        return y.sum(-1) - paddle.diagonal(y, axis1=1, axis2=2)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(78)
    return [
        ((rng.standard_normal((n, 4, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
