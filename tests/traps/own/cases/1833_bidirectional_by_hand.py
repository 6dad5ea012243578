import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fw, self.bw = nn.GRUCell(4, 3), nn.GRUCell(4, 3)

    def run(self, cell, steps):
        h, outs = None, []
        for s in steps:
            out, h = cell(s, h)
            outs.append(out)
        return outs

    def forward(self, x):
        steps = x.unbind(axis=1)
        fw = self.run(self.fw, steps)
        bw = self.run(self.bw, steps[::-1])[::-1]
        return paddle.stack([paddle.concat([a, b], -1) for a, b in zip(fw, bw)], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(87)
    return [
        ((rng.standard_normal((n, 5, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
