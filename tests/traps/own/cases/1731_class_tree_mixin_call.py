import numpy as np
import paddle.nn as nn


class Saveable:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.meta = {"version": 2}

    def describe(self):
        return f"{type(self).__name__} v{self.meta['version']}"


class Net(Saveable, nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.title = self.describe()

    def forward(self, x):
        return self.fc(x) * len(self.title) / self.meta["version"]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(82)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
