import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, n=3, k=2):
        super().__init__()
        self.experts = nn.LayerList([nn.Linear(6, 6) for _ in range(n)])
        self.gate = nn.Linear(6, n)
        self.k = k

    def forward(self, x):
        g = F.softmax(self.gate(x))
        top, idx = g.topk(self.k, axis=-1)
        out = paddle.zeros_like(x)
        for e, expert in enumerate(self.experts):
            w = (top * (idx == e).astype(x.dtype)).sum(-1, keepdim=True)
            out = out + w * expert(x)
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(62)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
