import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, eval_size=None):
        super().__init__()
        self.eval_size = eval_size
        self.conv = nn.Conv2D(6, 4, 1)

    def anchors(self, feat):
        if self.eval_size:
            h, w = self.eval_size
        else:
            _, _, h, w = feat.shape
        sx = paddle.arange(end=w, dtype="float32") + 0.5
        sy = paddle.arange(end=h, dtype="float32") + 0.5
        gy, gx = paddle.meshgrid(sy, sx)
        return paddle.stack([gx, gy], axis=-1).reshape([-1, 2])

    def forward(self, x):
        y = self.conv(x)
        pts = self.anchors(y)
        reg = y.flatten(2).transpose([0, 2, 1])
        return paddle.concat([pts - reg[..., :2], pts + reg[..., 2:]], axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(82)
    return [
        ((rng.standard_normal((n, 6, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
