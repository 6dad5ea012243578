import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mu, self.sd = nn.Linear(8, 4), nn.Linear(8, 4)

    def sample(self, mu, sd):
        return mu + paddle.randn(sd.shape) * sd

    def forward(self, x):
        mu, sd = self.mu(x), F.softplus(self.sd(x))
        return self.sample(mu, sd) if self.training else mu


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(83)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
