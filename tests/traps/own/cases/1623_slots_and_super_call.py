import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class MyLinear(nn.Linear):
    def __init__(self, *args, gain=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.gain = gain

    def forward(self, input):
        return super().forward(input) * self.gain


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = MyLinear(8, 8, gain=0.5)
        self.b = MyLinear(8, 4, bias_attr=False)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(71)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
