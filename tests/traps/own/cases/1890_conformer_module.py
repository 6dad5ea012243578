import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class FeedForward(nn.Layer):
    def __init__(self, d, mult=2, scale=0.5):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d * mult), nn.Silu(), nn.Linear(d * mult, d))
        self.scale = scale

    def forward(self, x):
        return x + self.scale * self.net(x)


class ConvModule(nn.Layer):
    def __init__(self, d, k=3, causal=False):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.pw1, self.dw, self.pw2 = nn.Conv1D(d, 2 * d, 1), nn.Conv1D(d, d, k, groups=d), nn.Conv1D(d, d, 1)
        self.bn = nn.BatchNorm1D(d)
        self.lorder = k - 1 if causal else 0
        self.padding = (k - 1, 0) if causal else ((k - 1) // 2, (k - 1) // 2)

    def forward(self, x, mask_pad=None, cache=None):
        y = self.norm(x).transpose([0, 2, 1])
        if mask_pad is not None:
            y = y.masked_fill(mask_pad, 0.0)
        if self.lorder > 0 and cache is not None:
            y = paddle.concat([cache, y], axis=2)
        y = F.glu(self.pw1(y), axis=1)
        y = F.pad(y, list(self.padding), data_format="NCL")
        y = F.silu(self.bn(self.dw(y)))
        return x + self.pw2(y).transpose([0, 2, 1])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.ff1, self.conv, self.ff2 = FeedForward(8), ConvModule(8), FeedForward(8)
        self.causal = ConvModule(8, causal=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.ff2(self.causal(self.conv(self.ff1(x)))))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(47)
    return [
        ((rng.standard_normal((n, 12, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
