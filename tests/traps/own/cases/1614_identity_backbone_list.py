import numpy as np
import paddle.nn as nn


class Wrap(nn.Layer):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.out_channels = [3, 4]

    def forward(self, x):
        return [x, self.body(x)]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = Wrap(nn.Conv2D(3, 4, 1))
        self.heads = nn.LayerList([nn.Conv2D(c, 2, 1) for c in self.backbone.out_channels])

    def forward(self, x):
        feats = self.backbone(x)
        return [h(f) for h, f in zip(self.heads, feats)]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(62)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
