import numpy as np
import paddle
import paddle.nn as nn


class FakeQuant(nn.Layer):
    def __init__(self):
        super().__init__()
        self.calibrating = True
        self.scale = 1.0
        self.seen = 0

    def forward(self, x):
        if self.calibrating:
            self.scale = max(self.scale, float(self.seen))
            self.seen += 1
        return x * self.scale


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q = FakeQuant()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.q(x))


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
