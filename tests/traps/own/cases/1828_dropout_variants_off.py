import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, p=0.3):
        super().__init__()
        self.p = p
        self.fc = nn.Linear(6, 6)
        self.alpha = nn.AlphaDropout(p)

    def forward(self, x):
        y = F.dropout(self.fc(x), self.p, training=self.training)
        y = self.alpha(y)
        y = F.dropout(y, p=0.0)
        return F.alpha_dropout(y, p=self.p, training=False)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(82)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
