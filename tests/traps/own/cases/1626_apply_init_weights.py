import numpy as np
import paddle
import paddle.nn as nn


def init_weights(layer):
    if isinstance(layer, nn.Linear):
        layer.weight.set_value(paddle.full(layer.weight.shape, 0.1))
        if layer.bias is not None:
            layer.bias.set_value(paddle.zeros_like(layer.bias))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 2, bias_attr=False))
        self.apply(init_weights)

    def forward(self, x):
        return self.net(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(74)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
