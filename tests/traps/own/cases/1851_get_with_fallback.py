import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, cfg=None):
        super().__init__()
        self.cfg = {"scale": 0.5, **(cfg or {})}
        self.heads = {"main": 4}
        self.fc = nn.Linear(8, self.heads.get("main", 2))

    def forward(self, x):
        y = self.fc(x) * self.cfg.get("scale", 1.0)
        if (shift := self.cfg.get("shift")) is not None:
            y = y + shift
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(8)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
