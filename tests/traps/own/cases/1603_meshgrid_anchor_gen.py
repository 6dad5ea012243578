import math

import numpy as np
import paddle
import paddle.nn as nn


class AnchorGenerator(nn.Layer):
    def __init__(self, sizes=(16, 32), ratios=(0.5, 1.0), stride=8):
        super().__init__()
        cells = []
        for s in sizes:
            for r in ratios:
                w, h = math.sqrt(s * s / r), math.sqrt(s * s * r)
                cells.append([-w / 2, -h / 2, w / 2, h / 2])
        self.register_buffer("cells", paddle.to_tensor(cells, dtype="float32"), persistable=False)
        self.stride = stride

    def forward(self, feat):
        h, w = feat.shape[-2:]
        sx = paddle.arange(0, w, dtype="float32") * self.stride
        sy = paddle.arange(0, h, dtype="float32") * self.stride
        gy, gx = paddle.meshgrid(sy, sx)
        shifts = paddle.stack([gx, gy, gx, gy], axis=-1).reshape([-1, 1, 4])
        return (shifts + self.cells).reshape([-1, 4])

    @property
    def num_anchors(self):
        return len(self.cells)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gen = AnchorGenerator()
        self.conv = nn.Conv2D(4, self.gen.num_anchors * 4, 1)

    def forward(self, x):
        deltas = self.conv(x).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, 4])
        return self.gen(x) + deltas * 0.1


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(51)
    return [
        ((rng.standard_normal((n, 4, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
