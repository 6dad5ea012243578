import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self._memo = {}

    def encode(self, x):
        key = tuple(x.shape)
        if key not in self._memo:
            self._memo[key] = self.fc(x)
        return self._memo[key]

    def forward(self, x):
        return self.encode(x) * 2.0


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [((rng.standard_normal((4, 8)) + s).astype("float32"),) for s in (2.0, -2.0, 0.5, -0.5)]
