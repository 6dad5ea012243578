import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 4)
        self.logvar = nn.Linear(8, 4)

    def reparameterise(self, mu, logvar):
        if not self.training:
            return mu
        return mu + paddle.randn(mu.shape) * paddle.exp(0.5 * logvar)

    def forward(self, x):
        mu, logvar = self.mu(x), self.logvar(x)
        return self.reparameterise(mu, logvar), logvar


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
