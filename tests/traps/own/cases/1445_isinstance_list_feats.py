import numpy as np
import paddle
import paddle.nn as nn


class Neck(nn.Layer):
    def __init__(self, cin):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv2D(c, 4, 1) for c in cin])

    def forward(self, feats):
        if not isinstance(feats, (list, tuple)):
            feats = [feats]
        assert len(feats) == len(self.convs)
        return [c(f) for c, f in zip(self.convs, feats)]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2D(3, 6, 3, padding=1)
        self.neck = Neck([6])
        self.out_indices = [0]

    def forward(self, x):
        feats = self.neck(self.stem(x))
        if len(feats) == 1:
            return feats[0].mean([2, 3])
        return paddle.concat([f.mean([2, 3]) for f in feats], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(87)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
