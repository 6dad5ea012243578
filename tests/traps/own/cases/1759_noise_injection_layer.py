import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Noise(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.weight = self.create_parameter([1, c, 1, 1], default_initializer=nn.initializer.Constant(0.3))

    def forward(self, x, noise=None):
        if noise is None:
            noise = paddle.randn([x.shape[0], 1, x.shape[2], x.shape[3]])
        return x + self.weight * noise


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 4, 1)
        self.noise = Noise(4)

    def forward(self, x):
        return F.leaky_relu(self.noise(self.conv(x)), 0.2)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(13)
    return [
        ((rng.standard_normal((n, 4, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
