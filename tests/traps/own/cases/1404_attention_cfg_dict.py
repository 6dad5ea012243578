import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, **cfg):
        super().__init__()
        cfg.setdefault("heads", 4)
        self.heads = cfg["heads"]
        self.dim = 16 // self.heads
        self.scale = self.dim**-0.5
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)
        self.drop = nn.Dropout(cfg.get("drop", 0.1))

    def forward(self, x):
        b, t, c = x.shape[0], x.shape[1], x.shape[2]
        qkv = self.qkv(x).reshape((-1, t, 3, self.heads, c // self.heads)).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = F.softmax(q.matmul(k.transpose((0, 1, 3, 2))), axis=-1)
        attn = self.drop(attn)
        return self.proj(attn.matmul(v).transpose((0, 2, 1, 3)).reshape((-1, t, c)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(46)
    return [
        ((rng.standard_normal((n, t, 16)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
