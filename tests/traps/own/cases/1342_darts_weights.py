import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    OPS = {"id": lambda: nn.Identity(), "fc": lambda: nn.Linear(8, 8)}

    def __init__(self):
        super().__init__()
        self.ops = nn.LayerList([make() for make in self.OPS.values()])
        self.alpha = self.create_parameter([len(self.OPS)])

    def forward(self, x):
        w = F.softmax(self.alpha, axis=0)
        return sum(w[i] * op(x) for i, op in enumerate(self.ops))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
