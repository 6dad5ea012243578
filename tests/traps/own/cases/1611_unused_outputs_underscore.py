import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 4)
        self.mha = nn.MultiHeadAttention(4, 2, need_weights=True)

    def forward(self, x):
        out, _ = self.gru(x)
        att, _weights = self.mha(out, out, out)
        return (out + att)[:, -1, :]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(59)
    return [
        ((rng.standard_normal((n, t, 6)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
