import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, growth=2, n=3):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv1D(4 + i * growth, growth, 1) for i in range(n)])

    def forward(self, x):
        feats = [x]
        for conv in self.convs:
            new = conv(F.relu(paddle.concat(feats, axis=1)))
            feats += [new]
        return paddle.concat(feats[1:], axis=1), feats[-1] + 0.5


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(30)
    return [
        ((rng.standard_normal((n, 4, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
