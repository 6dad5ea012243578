import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.main = nn.Conv2D(3, 2, 1)
        self.aux = nn.Conv2D(3, 2, 1)

    def forward(self, x):
        outs = [self.main(x)]
        if self.training:
            outs.append(self.aux(x))
        return [F.interpolate(o, x.shape[2:]) for o in outs]


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
