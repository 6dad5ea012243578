import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class GCNLayer(nn.Layer):
    def __init__(self, a, b, act=None):
        super().__init__()
        self.w = nn.Linear(a, b)
        self.act = act

    def forward(self, x, adj):
        deg = adj.sum(-1, keepdim=True).clip(min=1e-3)
        y = self.w(paddle.bmm(adj, x) / deg)
        return self.act(y) if callable(self.act) else y


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([GCNLayer(4, 8, F.relu), GCNLayer(8, 3)])

    def forward(self, x, adj):
        h = x
        for layer in self.layers:
            h = layer(h, adj)
        return h.mean(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 4], "dtype": "float32"},
    {"name": "adj", "shape": [None, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(13)
    return [
        (
            (rng.standard_normal((n, 6, 4)) + s).astype("float32"),
            rng.random((n, 6, 6)).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
