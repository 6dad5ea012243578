import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, flags=(True, False)):
        super().__init__()
        self.flags = flags
        self.fcs = nn.LayerList([nn.Linear(8, 8) for _ in flags])

    def forward(self, x):
        assert all(d > 0 for d in x.shape[1:])
        if any(self.flags) and not all(self.flags):
            x = x * 0.5
        return sum(fc(x) for fc, flag in zip(self.fcs, self.flags) if flag)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(64)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
