import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def noise(self, shape):
        u = np.random.uniform(1e-3, 1.0, shape).astype("float32")
        return paddle.to_tensor(-np.log(-np.log(u)))

    def forward(self, x):
        if self.training:
            x = x + self.noise([8])
        return F.softmax(x, axis=-1)


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
