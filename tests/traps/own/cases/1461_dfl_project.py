import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, reg_max=3):
        super().__init__()
        self.reg_max = reg_max
        self.proj_conv = nn.Conv2D(reg_max + 1, 1, 1, bias_attr=False)
        proj = paddle.linspace(0, reg_max, reg_max + 1).reshape([1, reg_max + 1, 1, 1])
        self.proj_conv.weight.set_value(proj)
        self.proj_conv.weight.stop_gradient = True

    def forward(self, x):
        d = x.reshape([-1, 4, 4, self.reg_max + 1]).transpose([0, 3, 1, 2])
        return self.proj_conv(F.softmax(d, axis=1)).squeeze(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(6)
    return [
        ((rng.standard_normal((n, 4, 16)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
