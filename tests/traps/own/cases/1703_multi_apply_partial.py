import functools

import numpy as np
import paddle
import paddle.nn as nn


def multi_apply(func, *args, **kwargs):
    pfunc = functools.partial(func, **kwargs) if kwargs else func
    return tuple(map(list, zip(*map(pfunc, *args))))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(8, 4) for _ in range(2)])
        self.scales = [1.0, 0.5]

    def level(self, fc, scale, x=None):
        y = fc(x) * scale
        return y, y.mean(-1, keepdim=True)

    def forward(self, x):
        feats, means = multi_apply(self.level, self.fcs, self.scales, x=x)
        return paddle.concat(feats + means, axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(54)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
