import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.utils.spectral_norm(nn.Conv2D(3, 3, 3, padding=1)) for _ in range(2)])

    def forward(self, x):
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.2)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(42)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
