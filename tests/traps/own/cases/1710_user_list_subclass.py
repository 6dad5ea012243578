import numpy as np
import paddle
import paddle.nn as nn


class ImageList(list):
    def stacked(self, axis=1):
        return paddle.concat(self, axis=axis)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv2D(3, 2, 4, 4) for _ in range(2)])

    def forward(self, x):
        feats = ImageList()
        for conv in self.convs:
            feats.append(conv(x))
        return feats.stacked()


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(61)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
