import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, steps=4):
        super().__init__()
        betas = np.linspace(1e-4, 0.02, steps)
        alphas = np.cumprod(1.0 - betas)
        self.sqrt_alpha = [float(a) for a in np.sqrt(alphas)]
        self.sqrt_one = [float(a) for a in np.sqrt(1.0 - alphas)]
        self.eps = nn.Sequential(nn.Linear(8, 16), nn.Silu(), nn.Linear(16, 8))
        self.steps = steps

    def forward(self, x):
        for t in reversed(range(self.steps)):
            noise = self.eps(x)
            x0 = (x - self.sqrt_one[t] * noise) / self.sqrt_alpha[t]
            if t == 0:
                x = x0
            else:
                x = self.sqrt_alpha[t - 1] * x0 + self.sqrt_one[t - 1] * noise
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(54)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
