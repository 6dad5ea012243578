import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, bias=True, norm=False):
        super().__init__()
        self.fc = nn.Linear(8, 4 + int(bias) + 2 * norm)
        self.bias, self.norm = bias, norm

    def forward(self, x):
        y = self.fc(x)
        n = 4 + self.bias + self.norm * 2
        assert y.shape[-1] == n
        return y[:, :4] * (1 if self.norm else 2) + (y[:, 4:5] if self.bias else 0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(93)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
