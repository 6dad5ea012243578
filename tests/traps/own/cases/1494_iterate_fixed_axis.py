import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(6, 3) for _ in range(4)])

    def forward(self, x):
        outs = [fc(view) for fc, view in zip(self.fcs, x)]
        acc = outs[0]
        for view in x:
            acc = acc + view[:, :3] * 0.1
        return acc


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(39)
    return [
        ((rng.standard_normal((4, n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
