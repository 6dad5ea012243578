import numpy as np
import paddle
import paddle.nn as nn


class Block(nn.Layer):
    def __init__(self, **cfg):
        super().__init__()
        self.cfg = cfg
        self.fc = nn.Linear(8, 8)

    def forward(self, x, **kw):
        if kw.get("residual", self.cfg.get("residual")):
            return x + self.fc(x)
        return self.fc(x)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block(residual=True), Block()])

    def forward(self, x):
        for at, block in enumerate(self.blocks):
            x = block(x, residual=bool(at))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
