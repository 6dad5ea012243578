import numpy as np
import paddle.nn as nn


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x, *, scale=1.0, residual=True, **unused):
        y = self.fc(x) * scale
        return x + y if residual else y


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block(8) for _ in range(3)])
        self.opts = [dict(scale=0.5), dict(residual=False), {}]

    def forward(self, x):
        for block, opts in zip(self.blocks, self.opts):
            x = block(x, **opts)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(65)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
