import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def penalty(self, x):
        x.stop_gradient = False
        out = self.fc(x).sum()
        out.backward()
        return (x.grad**2).sum()

    def forward(self, x):
        if self.training:
            return self.fc(x), self.penalty(x)
        return self.fc(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(85)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
