import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Head(nn.Layer):
    def __init__(self, strides):
        super().__init__()
        self.strides = strides
        self.convs = nn.LayerList([nn.Conv2D(3, 2, 1) for _ in strides])

    def forward(self, feats):
        out = []
        for conv, feat, stride in zip(self.convs, feats, self.strides):
            out.append((conv(feat) * stride).flatten(2))
        return paddle.concat(out, axis=-1)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = Head((1, 2, 4))

    def forward(self, x):
        feats = [x]
        for _ in range(2):
            feats.append(F.max_pool2d(feats[-1], 2))
        return self.head(feats)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
