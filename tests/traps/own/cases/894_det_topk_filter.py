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
        score = F.sigmoid(self.score(x)).squeeze(-1)
        keep = paddle.nonzero(score > 0.3).flatten()
        if keep.shape[0] == 0:
            return paddle.zeros([0, 4])
        return self.box(x).index_select(keep)


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
