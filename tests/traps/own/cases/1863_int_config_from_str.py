import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, spec="8x6x4", acts="relu,none"):
        super().__init__()
        dims = [int(d) for d in spec.split("x")]
        self.acts = acts.split(",")
        self.fcs = nn.LayerList([nn.Linear(*pair) for pair in zip(dims, dims[1:])])

    def forward(self, x):
        for fc, act in zip(self.fcs, self.acts):
            x = fc(x)
            x = getattr(F, act)(x) if act != "none" else x
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(20)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
