import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 10, 4, stride=4)
        self.register_buffer("anchor", paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]]))

    def forward(self, x):
        p = self.conv(x)
        b, _, h, w = p.shape
        p = p.reshape([b, 2, 5, h, w]).transpose([0, 1, 3, 4, 2])
        gy, gx = paddle.meshgrid(paddle.arange(h), paddle.arange(w))
        grid = paddle.stack([gx, gy], axis=-1).astype("float32")
        xy = F.sigmoid(p[..., :2]) + grid
        wh = paddle.exp(p[..., 2:4]) * self.anchor.reshape([1, 2, 1, 1, 2])
        return paddle.concat([xy, wh, F.sigmoid(p[..., 4:])], axis=-1).reshape([b, -1, 5])


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
