import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({"z": nn.Linear(8, 2), "a": nn.Linear(8, 3), "m": nn.Linear(8, 4)})

    def forward(self, x):
        out = {}
        for key in self.heads:
            out[key] = self.heads[key](x)
        z, a, m = (out[k] for k in ("z", "a", "m"))
        return [z, a * 2.0, m]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(34)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
