import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.taps = []
        self.a.register_forward_post_hook(self.collect)
        self.b.register_forward_post_hook(self.collect)

    def collect(self, layer, inp, out):
        self.taps.append(out)

    def forward(self, x):
        self.taps.clear()
        y = self.b(F.relu(self.a(x)))
        first, second = self.taps
        return y + first * second


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(46)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
