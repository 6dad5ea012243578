import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)
        self.box = nn.Linear(8, 4)

    def forward(self, x):
        s = F.sigmoid(self.score(x)).squeeze(-1)
        keep = s > 0.99
        if not keep.any():
            keep = s >= s.max()
        return paddle.masked_select(self.box(x), keep.unsqueeze(-1).expand([x.shape[0], 4])).sum()


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
