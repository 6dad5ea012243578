import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.att = nn.Sequential(nn.Linear(16, 6), nn.Sigmoid(), nn.Linear(6, 1))

    def forward(self, x, hist):
        q = x.unsqueeze(1).expand_as(hist)
        feats = paddle.concat([q, hist, q - hist, q * hist], axis=-1)
        w = self.att(feats).transpose([0, 2, 1])
        return paddle.matmul(w, hist).squeeze(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
    {"name": "hist", "shape": [None, None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        (
            (rng.standard_normal((n, 4)) + s).astype("float32"),
            (rng.standard_normal((n, t, 4)) + s).astype("float32"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
