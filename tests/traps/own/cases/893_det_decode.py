import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 8, 3, stride=4, padding=1)
        self.reg = nn.Conv2D(8, 4, 1)

    def anchors(self, feat):
        h, w = feat.shape[2:]
        ys, xs = paddle.meshgrid(paddle.arange(h, dtype="float32"), paddle.arange(w, dtype="float32"))
        return paddle.stack([xs, ys, xs + 1, ys + 1], axis=-1).reshape([-1, 4])

    def forward(self, x):
        feat = self.conv(x)
        delta = self.reg(feat).flatten(2).transpose([0, 2, 1])
        return delta + self.anchors(feat).unsqueeze(0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 16, 2.0), (1, 8, 24, -2.0), (3, 13, 9, 0.5), (4, 32, 16, -0.5))
    ]
