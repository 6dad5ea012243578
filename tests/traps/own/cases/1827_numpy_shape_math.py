import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, padding=1)

    def forward(self, x):
        hw = np.array(x.shape[2:])
        target = (np.ceil(hw / 4) * 4).astype("int64")
        y = F.interpolate(x, size=[int(v) for v in target], mode="nearest")
        return self.conv(y)[:, :, : int(hw[0]), : int(hw[1])]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 10, 14], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(81)
    return [
        ((rng.standard_normal((n, 3, 10, 14)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
