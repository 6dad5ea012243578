import operator

import numpy as np
import paddle.nn as nn


pick = operator.itemgetter("b", "a")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        left, right = self.fc(x).chunk(2, axis=-1)
        bag = {"a": left, "b": right, "c": 3}
        b, a = pick(bag)
        return b - a


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(56)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
