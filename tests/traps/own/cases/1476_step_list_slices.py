import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.sizes = [2, 4, 6]
        self.fcs = nn.LayerList([nn.Linear(s, 3) for s in self.sizes])

    def forward(self, x):
        start, outs = 0, []
        for size, fc in zip(self.sizes, self.fcs):
            end = start + size
            outs.append(fc(x[:, start:end]))
            start = end
        assert start == x.shape[1]
        first, *rest = outs
        for each in rest:
            first = paddle.maximum(first, each)
        return first


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(21)
    return [
        ((rng.standard_normal((n, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
