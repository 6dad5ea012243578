import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Mixer(nn.Layer):
    def __init__(self, dim, hw, local_k=(3, 3), kind="Global"):
        super().__init__()
        self.kind = kind
        self.qkv = nn.Linear(dim, dim * 3)
        self.scale = dim**-0.5
        self.n = hw[0] * hw[1]
        if kind == "Local":
            h, w = hw
            hk, wk = local_k
            mask = paddle.ones([h * w, h + hk - 1, w + wk - 1])
            for i in range(h):
                for j in range(w):
                    mask[i * w + j, i : i + hk, j : j + wk] = 0.0
            mask = mask[:, hk // 2 : h + hk // 2, wk // 2 : w + wk // 2].flatten(1)
            inf = paddle.full([h * w, h * w], -1e4)
            self.register_buffer("mask", paddle.where(mask < 1, mask, inf).unsqueeze(0))

    def forward(self, x):
        qkv = self.qkv(x).reshape((0, -1, 3, x.shape[-1])).transpose((2, 0, 1, 3))
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = q.matmul(k.transpose((0, 2, 1)))
        if self.kind == "Local":
            attn += self.mask
        return F.softmax(attn, axis=-1).matmul(v)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2D(3, 8, 4, 4)
        self.mixers = nn.LayerList([Mixer(8, (2, 4), kind=k) for k in ("Local", "Global")])
        self.norms = nn.LayerList([nn.LayerNorm(8, epsilon=1e-6) for _ in range(2)])
        self.last_stage, self.prenorm = True, False

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose((0, 2, 1))
        for mixer, norm in zip(self.mixers, self.norms):
            x = x + mixer(norm(x)) if self.prenorm else norm(x + mixer(x))
        if self.last_stage:
            x = x.transpose((0, 2, 1)).reshape([0, 8, 2, 4]).mean(2)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(39)
    return [
        ((rng.standard_normal((n, 3, 8, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
