import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Attention(nn.Layer):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x, cache=None, use_cache=False, output_attentions=False):
        mix = self.qkv(x).reshape([0, 0, self.heads, 3 * self.hd]).transpose([0, 2, 1, 3])
        q, k, v = paddle.split(mix, 3, axis=-1)
        if cache is not None:
            k, v = paddle.concat([cache[0], k], axis=2), paddle.concat([cache[1], v], axis=2)
        t = paddle.shape(x)[1]
        mask = paddle.triu(paddle.full([t, t], -1e4), diagonal=1)
        w = F.softmax(paddle.matmul(q, k, transpose_y=True) * self.hd**-0.5 + mask)
        y = self.out(paddle.matmul(w, v).transpose([0, 2, 1, 3]).reshape([0, 0, -1]))
        outs = (y,)
        if output_attentions:
            outs += (w,)
        if use_cache:
            outs += ((k, v),)
        return outs


class Net(nn.Layer):
    def __init__(self, depth=2):
        super().__init__()
        self.h = nn.LayerList([Attention() for _ in range(depth)])
        self.ln = nn.LayerList([nn.LayerNorm(8) for _ in range(depth)])

    def forward(self, x, past=None, use_cache=False):
        presents = [] if use_cache else None
        past = past if past is not None else [None] * len(self.h)
        for block, ln, cache in zip(self.h, self.ln, past):
            outs = block(ln(x), cache=cache, use_cache=use_cache)
            x = x + outs[0]
            if use_cache:
                presents.append(outs[-1])
        return (x, presents) if use_cache else x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(43)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
