import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({str(i): nn.Linear(2, 2) for i in range(6)})

    def one(self, x, i):
        part = x[:, 2 * i : 2 * i + 2]
        y = self.heads[str(i)](part)
        return y, y.mean(-1)

    def forward(self, x):
        a, ma = self.one(x, 0)
        b, mb = self.one(x, 1)
        c, mc = self.one(x, 2)
        d, md = self.one(x, 3)
        e, me = self.one(x, 4)
        return a, b, c, d, e, ma, mb, mc, md, me


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(0)
    return [
        ((rng.standard_normal((n, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
