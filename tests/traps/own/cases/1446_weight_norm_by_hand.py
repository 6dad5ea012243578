import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class WNLinear(nn.Layer):
    def __init__(self, cin, cout):
        super().__init__()
        self.v = self.create_parameter([cin, cout])
        self.g = self.create_parameter([cout], default_initializer=nn.initializer.Constant(1.0))
        self.bias = self.create_parameter([cout], is_bias=True)

    @property
    def weight(self):
        return self.v * (self.g / paddle.linalg.norm(self.v, axis=0))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(WNLinear(8, 8), nn.ReLU(), WNLinear(8, 3))

    def forward(self, x):
        return self.net(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(88)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
