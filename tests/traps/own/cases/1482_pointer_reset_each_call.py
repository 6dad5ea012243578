import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, widths=(2, 3, 4)):
        super().__init__()
        self.widths = widths
        self.fcs = nn.LayerList([nn.Linear(w, 2) for w in widths])
        self.at = 0

    def take(self, x, width):
        part = x[:, self.at : self.at + width]
        self.at += width
        return part

    def forward(self, x):
        self.at = 0
        return paddle.concat([fc(self.take(x, w)) for fc, w in zip(self.fcs, self.widths)], axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 9], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(27)
    return [
        ((rng.standard_normal((n, 9)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
