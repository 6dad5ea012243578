import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, mode="avg"):
        super().__init__()
        self.mode = mode
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        h = self.fc(x)
        match self.mode:
            case "avg":
                return h.mean(axis=-1)
            case "max":
                return h.max(axis=-1)
            case _:
                raise ValueError(self.mode)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(59)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
