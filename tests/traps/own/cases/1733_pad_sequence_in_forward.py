import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, kernel=3):
        super().__init__()
        self.kernel = kernel
        self.conv = nn.Conv1D(4, 4, kernel)

    def forward(self, x):
        y = x.transpose([0, 2, 1])
        y = F.pad(y, [self.kernel - 1, 0], data_format="NCL")
        y = self.conv(y)
        assert y.shape[-1] == x.shape[1]
        return y.transpose([0, 2, 1])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(84)
    return [
        ((rng.standard_normal((n, 5, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
