import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1D(4, 4, 3, padding=1)

    def forward(self, x):
        while x.shape[-1] > 3:
            x = F.relu(self.conv(x))
            x = F.max_pool1d(x, 2, 2)
        return x.mean(-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(70)
    return [
        ((rng.standard_normal((n, 4, 16)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
