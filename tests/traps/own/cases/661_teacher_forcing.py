import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, forcing=0.0):
        super().__init__()
        self.forcing = forcing
        self.cell = nn.GRUCell(8, 8)

    def forward(self, x):
        h = paddle.zeros([x.shape[0], 8])
        outs = []
        for _ in range(3):
            _, h = self.cell(x, h)
            outs.append(h)
            if self.forcing > 0.5:
                x = h
        return paddle.stack(outs, axis=1)


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
