import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(12, 4), nn.Linear(12, 2), nn.Linear(12, 6)

    def forward(self, x):
        feats = [f(x) for f in (self.a, self.b, self.c)]
        feats = sorted(feats, key=lambda t: t.shape[-1], reverse=True)
        widest = max(f.shape[-1] for f in feats)
        return paddle.concat([F.pad(f.unsqueeze(1), [0, widest - f.shape[-1]], data_format="NCL") for f in feats], 1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(41)
    return [
        ((rng.standard_normal((n, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
