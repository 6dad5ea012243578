import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv2D(3, 2, 3, s, 1) for s in (1, 2, 4)])

    def forward(self, x):
        feats = [c(x) for c in self.convs]
        size = max([f.shape[2:] for f in feats])
        ups = [f if f.shape[2:] == size else F.interpolate(f, size=size) for f in feats]
        return paddle.concat(ups, axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(63)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
