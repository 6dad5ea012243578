import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 3)

    def forward(self, x, h0=None):
        out, h = self.gru(x) if h0 is None else self.gru(x, h0)
        return out, h


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
    {"name": "h0", "shape": [1, None, 3], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(3)
    return [
        (
            (rng.standard_normal((n, t, 4)) + s).astype("float32"),
            (rng.standard_normal((1, n, 3)) + s).astype("float32"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
