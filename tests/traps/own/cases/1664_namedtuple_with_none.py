import collections

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


Out = collections.namedtuple("Out", ["logits", "aux", "feat"])


class Net(nn.Layer):
    def __init__(self, aux=False):
        super().__init__()
        self.fc, self.cls = nn.Linear(8, 8), nn.Linear(8, 2)
        self.aux = nn.Linear(8, 2) if aux else None

    def forward(self, x):
        h = F.relu(self.fc(x))
        aux = self.aux(h) if self.aux is not None else None
        return Out(self.cls(h), aux, h)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(15)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
