import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 4)
        self.first = nn.Embedding(20, 1)
        self.bias = self.create_parameter([1], is_bias=True)

    def forward(self, x):
        e = self.emb(x)
        second = 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(-1, keepdim=True)
        return F.sigmoid(self.bias + self.first(x).squeeze(-1).sum(-1, keepdim=True) + second)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(10)
    return [(rng.integers(0, 20, (n, 5)).astype("int64"),) for n, _s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))]
