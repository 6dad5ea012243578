import numpy as np
import paddle
import paddle.nn as nn


class FakeQuant(nn.Layer):
    def __init__(self, bits=8):
        super().__init__()
        self.register_buffer("scale", paddle.to_tensor([2.0]))
        self.levels = 2 ** (bits - 1) - 1

    def forward(self, x):
        step = self.scale / self.levels
        return paddle.round(x / step) * step


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.quant = FakeQuant()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.quant(x))


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
