import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        a = y.transpose([0, 2, 1]).contiguous()
        b = a.reshape([a.shape[0], -1])
        c = b.unsqueeze(1)
        c = c + 1.0
        return c.squeeze(1), y.detach().clone()


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(76)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
