import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SepConv(nn.Layer):
    def __init__(self, cin, cout, rate):
        super().__init__()
        self.dw = nn.Conv2D(cin, cin, 3, padding=rate, dilation=rate, groups=cin, bias_attr=False)
        self.pw = nn.Sequential(nn.Conv2D(cin, cout, 1, bias_attr=False), nn.BatchNorm2D(cout), nn.ReLU())

    def forward(self, x):
        return self.pw(self.dw(x))


class Net(nn.Layer):
    def __init__(self, rates=(1, 2, 4), image_pooling=True):
        super().__init__()
        self.stem = nn.Conv2D(3, 6, 3, 2, 1)
        self.blocks = nn.LayerList([SepConv(6, 4, r) if r > 1 else nn.Conv2D(6, 4, 1) for r in rates])
        out = len(self.blocks)
        if image_pooling:
            self.global_pool = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(6, 4, 1), nn.ReLU())
            out += 1
        self.image_pooling = image_pooling
        self.head = nn.Conv2D(4 * out, 2, 1)

    def forward(self, x):
        feat = self.stem(x)
        outputs = []
        interpolate_shape = feat.shape[2:]
        for block in self.blocks:
            y = block(feat)
            outputs.append(y)
        if self.image_pooling:
            pooled = self.global_pool(feat)
            pooled = F.interpolate(pooled, interpolate_shape, mode="bilinear", align_corners=False)
            outputs.append(pooled)
        logit = self.head(paddle.concat(outputs, axis=1))
        return [F.interpolate(logit, x.shape[2:], mode="bilinear", align_corners=False)]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(41)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
