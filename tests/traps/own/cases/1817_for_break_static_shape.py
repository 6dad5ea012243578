import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv1D(4, 4, 3) for _ in range(8)])

    def forward(self, x):
        for conv in self.convs:
            if x.shape[-1] <= 6:
                break
            x = F.relu(conv(x))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(71)
    return [
        ((rng.standard_normal((n, 4, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
