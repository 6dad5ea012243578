import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.groups = [{"params": list(self.fc.parameters()), "lr": 0.1}]
        self.names = [n for n, _ in self.named_parameters()]

    def forward(self, x):
        y = self.fc(x)
        return y * (0.5 if "fc.weight" in self.names else 1.0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(86)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
