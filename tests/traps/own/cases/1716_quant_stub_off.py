import numpy as np
import paddle
import paddle.nn as nn


class QuantStub(nn.Layer):
    def __init__(self, bits=8, enabled=False):
        super().__init__()
        self.enabled = enabled
        self.levels = 2**bits - 1
        self.register_buffer("max_abs", paddle.ones([1]))

    def observe(self, x):
        self.max_abs = paddle.maximum(self.max_abs, x.abs().max())

    def forward(self, x):
        if not self.enabled:
            return x
        if self.training:
            self.observe(x)
        s = self.max_abs / self.levels
        return paddle.round(x / s) * s


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stub = QuantStub()
        self.on = QuantStub(enabled=True)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.on(self.fc(self.stub(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(67)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
