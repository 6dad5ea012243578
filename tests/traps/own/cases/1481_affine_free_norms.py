import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        y = nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False)(y)
        y = nn.LayerNorm([6, 6], weight_attr=False, bias_attr=False)(y)
        return nn.Upsample(scale_factor=2)(y)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(26)
    return [
        ((rng.standard_normal((n, 4, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
