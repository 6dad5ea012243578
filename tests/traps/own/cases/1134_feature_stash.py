import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Backbone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2D(3, 4, 3, padding=1)
        self.c2 = nn.Conv2D(4, 4, 3, stride=2, padding=1)
        self.stash = {}

    def forward(self, x):
        self.stash.clear()
        self.stash["c1"] = F.relu(self.c1(x))
        self.stash["c2"] = F.relu(self.c2(self.stash["c1"]))
        return self.stash


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()

    def forward(self, x):
        feats = self.backbone(x)
        return feats["c1"].mean(axis=[2, 3]) + feats["c2"].mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
