import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cuts = np.array([3, 3, 4])
        self.fcs = nn.LayerList([nn.Linear(int(c), 2) for c in self.cuts])

    def forward(self, x):
        parts = paddle.split(x, self.cuts.tolist(), axis=-1)
        return paddle.stack([fc(p) for fc, p in zip(self.fcs, parts)], axis=0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 10], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(49)
    return [
        ((rng.standard_normal((n, 10)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
