import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv2D(3 if i == 0 else 4, 4, 3, 2, 1) for i in range(3)])

    def forward(self, x):
        feats = []
        for conv in self.convs:
            x = F.relu(conv(x))
            feats.append(x)
        return {f"p{5 - i}": f for i, f in enumerate(reversed(feats))}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(17)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
