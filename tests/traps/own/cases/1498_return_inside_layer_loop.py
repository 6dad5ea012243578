import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, out_stage="s2"):
        super().__init__()
        self.s1, self.s2, self.s3 = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(4, 2)
        self.out_stage = out_stage

    def forward(self, x):
        for name in ("s1", "s2", "s3"):
            x = getattr(self, name)(x)
            if name == self.out_stage:
                return x
        return F.softmax(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(43)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
