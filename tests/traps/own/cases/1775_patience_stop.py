import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, patience=2):
        super().__init__()
        self.fcs = nn.LayerList([nn.Linear(6, 3) for _ in range(4)])
        self.patience = patience

    def forward(self, x):
        count, last, out = 0, None, None
        for fc in self.fcs:
            out = fc(x)
            pred = out.argmax(-1)
            if last is not None and (pred == last).all():
                count += 1
            else:
                count = 0
            last = pred
            if count == self.patience:
                break
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(29)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
