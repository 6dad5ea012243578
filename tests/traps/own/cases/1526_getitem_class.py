import numpy as np
import paddle
import paddle.nn as nn


class Pyramid(nn.Layer):
    def __init__(self, widths):
        super().__init__()
        self.levels = nn.LayerList([nn.Linear(8, w) for w in widths])

    def __len__(self):
        return len(self.levels)

    def __getitem__(self, i):
        return self.levels[i]

    def __iter__(self):
        return iter(self.levels)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.pyramid = Pyramid([4, 4, 4])

    def forward(self, x):
        outs = [level(x) for level in self.pyramid]
        return paddle.stack(outs, -1) * (1.0 / len(self.pyramid)) + self.pyramid[-1](x).unsqueeze(-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(71)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
