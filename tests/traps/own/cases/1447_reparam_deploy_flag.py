import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, deploy=False):
        super().__init__()
        self.deploy = deploy
        if deploy:
            self.fused = nn.Conv2D(4, 4, 3, padding=1)
        else:
            self.c3 = nn.Conv2D(4, 4, 3, padding=1)
            self.c1 = nn.Conv2D(4, 4, 1)
            self.idn = nn.BatchNorm2D(4)

    def forward(self, x):
        if hasattr(self, "fused"):
            return F.relu(self.fused(x))
        out = self.c3(x) + self.c1(x)
        if self.idn is not None:
            out += self.idn(x)
        return F.relu(out)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(89)
    return [
        ((rng.standard_normal((n, 4, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
