import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.strides = [4, 8]
        self.convs = nn.LayerList([nn.Conv2D(3, 4, s, s) for s in self.strides])

    def forward(self, x):
        by_stride = {}
        for conv, s in zip(self.convs, self.strides):
            by_stride.setdefault(s, []).append(conv(x).flatten(2))
        return paddle.concat([f for s in sorted(by_stride) for f in by_stride[s]], axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(49)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
