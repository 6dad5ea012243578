import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1D(4)
        self.conv = nn.Conv1D(4, 4, 1)

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x)))
        y = y[:, :, ::-1] + y.flip([1])
        return paddle.squeeze(y.unsqueeze(-1).expand([-1, -1, -1, 2]).mean(-1, keepdim=True), axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(92)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
