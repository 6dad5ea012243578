import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerDict({"s8": nn.Linear(8, 4), "s16": nn.Linear(8, 3), "s32": nn.Linear(8, 2)})
        self.order = ["s8", "s16", "s32"]

    def forward(self, x):
        feats = {k: fc(x) for k, fc in self.fcs.items()}
        return [feats[k] for k in self.order]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(55)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
