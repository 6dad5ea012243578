import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)

    def forward(self, x):
        cache = []
        out = []
        for t in range(x.shape[1]):
            cache.append(self.k(x[:, t]))
            keys = paddle.stack(cache, axis=1)
            w = F.softmax((keys * x[:, t : t + 1]).sum(axis=-1), axis=-1)
            out.append((w.unsqueeze(-1) * keys).sum(axis=1))
        return paddle.stack(out, axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
