import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Wrapper(nn.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, x):
        return self.inner(x) * self.gain


class Inner(nn.Layer):
    gain = 0.5

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = Wrapper(Inner())

    def forward(self, x):
        return F.relu(self.body(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(60)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
