import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


BUILDERS = {}


def register(cls):
    BUILDERS[cls.__name__] = cls
    return cls


@register
class Neck(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return F.relu(self.fc(x))


class Net(nn.Layer):
    def __init__(self, cfg=({"name": "Neck", "width": 8}, {"name": "Neck", "width": 8})):
        super().__init__()
        self.parts = nn.Sequential(*[BUILDERS[c["name"]](c["width"]) for c in cfg])

    def forward(self, x):
        return self.parts(x)


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
