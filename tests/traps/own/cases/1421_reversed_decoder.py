import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        dims = [3, 4, 8, 12]
        self.enc = nn.LayerList([nn.Conv2D(a, b, 3, 2, 1) for a, b in zip(dims, dims[1:])])
        self.dec = nn.LayerList([nn.Conv2D(a + b, b, 3, 1, 1) for a, b in zip(dims[:0:-1], dims[-2::-1])])

    def forward(self, x):
        skips = []
        for conv in self.enc:
            skips.append(x)
            x = F.relu(conv(x))
        for conv, skip in zip(self.dec, reversed(skips)):
            x = F.interpolate(x, size=skip.shape[2:], mode="nearest")
            x = conv(paddle.concat([x, skip], 1))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 32, 32], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(63)
    return [
        ((rng.standard_normal((n, 3, 32, 32)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
