import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, strategy="cls+mean"):
        super().__init__()
        self.pools = strategy.split("+")
        self.fc = nn.Linear(8 * len(self.pools), 2)

    def pool(self, x, how):
        if how == "cls":
            return x[:, 0]
        if how == "mean":
            return x.mean(axis=1)
        if how == "max":
            return x.max(axis=1)
        raise NotImplementedError(how)

    def forward(self, x):
        return self.fc(paddle.concat([self.pool(x, how) for how in self.pools], axis=-1))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(86)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
