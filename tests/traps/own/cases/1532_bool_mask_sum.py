import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, thresh=0.3):
        super().__init__()
        self.fc = nn.Linear(7, 7)
        self.thresh = thresh

    def forward(self, x):
        y = F.sigmoid(self.fc(x))
        keep = y > self.thresh
        keep = keep & (y < 0.9) | (y == y.max(-1, keepdim=True))
        count = keep.astype("int64").sum(-1)
        return y * keep.astype(y.dtype), count


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 7], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(77)
    return [
        ((rng.standard_normal((n, 7)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
