import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class ConvBNLayer(nn.Layer):
    def __init__(self, cin, cout, k=3, stride=1, act="relu", norm=True):
        super().__init__()
        self.conv = nn.Conv2D(cin, cout, k, stride=stride, padding=(k - 1) // 2, bias_attr=False if norm else None)
        self.norm = nn.BatchNorm2D(cout) if norm else None
        self.act = getattr(F, act) if act else None

    def forward(self, x):
        x = self.conv(x)
        if self.norm is not None:
            x = self.norm(x)
        if self.act:
            x = self.act(x)
        return x


class Net(nn.Layer):
    def __init__(self, arch=(("relu", True), ("hardswish", True), (None, False))):
        super().__init__()
        chans = [3, 8, 12, 4]
        self.stem = nn.Sequential(
            *[ConvBNLayer(i, o, act=a, norm=n) for i, o, (a, n) in zip(chans[:-1], chans[1:], arch)]
        )

    def forward(self, x):
        return self.stem(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(42)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
