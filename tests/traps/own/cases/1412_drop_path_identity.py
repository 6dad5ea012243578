import numpy as np
import paddle
import paddle.nn as nn


def drop_path(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    keep = paddle.to_tensor(1 - drop_prob, dtype=x.dtype)
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    mask = paddle.floor(keep + paddle.rand(shape, dtype=x.dtype))
    return x.divide(keep) * mask


class DropPath(nn.Layer):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        return drop_path(x, self.p, self.training)


class Net(nn.Layer):
    def __init__(self, depth=3, rate=0.2):
        super().__init__()
        dpr = [each.item() for each in np.linspace(0, rate, depth)]
        self.blocks = nn.LayerList([nn.Linear(8, 8) for _ in range(depth)])
        self.paths = nn.LayerList([DropPath(p) if p > 0.0 else nn.Identity() for p in dpr])

    def forward(self, x):
        for block, path in zip(self.blocks, self.paths):
            x = x + path(block(x))
        return x


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
