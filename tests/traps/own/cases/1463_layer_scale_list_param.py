import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gammas = nn.ParameterList([self.create_parameter([8]) for _ in range(3)])
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        for i, g in enumerate(self.gammas):
            x = x + g * self.fc(x) * (0.5 if i == len(self.gammas) - 1 else 1.0)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(8)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
