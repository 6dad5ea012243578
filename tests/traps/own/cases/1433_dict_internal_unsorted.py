import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Backbone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 6)
        self.b = nn.Linear(6, 4)

    def forward(self, x):
        p3 = F.relu(self.a(x))
        return {"p4": self.b(p3), "p3": p3, "meta": {"strides": [8, 16]}}


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.heads = nn.LayerDict({"p4": nn.Linear(4, 2), "p3": nn.Linear(6, 2)})

    def forward(self, x):
        feats = self.backbone(x)
        strides = feats.pop("meta")["strides"]
        outs = {}
        for (name, feat), stride in zip(feats.items(), strides):
            outs[name] = self.heads[name](feat) * stride
        return outs["p3"], outs["p4"]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(75)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
