import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


REGISTRY = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        return cls

    return wrap


@register("mlp")
class MLP(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return F.relu(self.fc(x))


@register("gate")
class Gate(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x * F.sigmoid(self.fc(x))


class Net(nn.Layer):
    def __init__(self, plan=("mlp", "gate", "mlp")):
        super().__init__()
        self.blocks = nn.LayerList([REGISTRY[name](8) for name in plan])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(65)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
