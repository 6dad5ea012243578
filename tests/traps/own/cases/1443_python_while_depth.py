import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, width=8):
        super().__init__()
        self.fcs = nn.LayerList()
        while width > 1:
            self.fcs.append(nn.Linear(width, width // 2))
            width //= 2

    def forward(self, x):
        i = 0
        while i < len(self.fcs):
            x = F.tanh(self.fcs[i](x))
            i += 1
            if x.shape[-1] == 2:
                break
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(85)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
