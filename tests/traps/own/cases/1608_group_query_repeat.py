import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv = heads, kv_heads
        self.hd = 16 // heads
        self.q = nn.Linear(16, 16)
        self.k = nn.Linear(16, kv_heads * self.hd)
        self.v = nn.Linear(16, kv_heads * self.hd)

    def split(self, t, n):
        return t.reshape([0, 0, n, self.hd]).transpose([0, 2, 1, 3])

    def forward(self, x):
        q, k, v = self.split(self.q(x), self.heads), self.split(self.k(x), self.kv), self.split(self.v(x), self.kv)
        if self.kv != self.heads:
            rep = self.heads // self.kv
            k = paddle.repeat_interleave(k, rep, axis=1)
            v = paddle.repeat_interleave(v, rep, axis=1)
        out = F.softmax(q @ k.transpose([0, 1, 3, 2]) * self.hd**-0.5, axis=-1) @ v
        return out.transpose([0, 2, 1, 3]).flatten(2)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(56)
    return [
        ((rng.standard_normal((n, t, 16)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
