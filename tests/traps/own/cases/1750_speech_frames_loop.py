import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, hop=2):
        super().__init__()
        self.hop = hop
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        outs = []
        for start in range(0, x.shape[1] - self.hop + 1, self.hop):
            outs.append(self.fc(x[:, start : start + self.hop].mean(1)))
        return max(outs, key=lambda o: float(o.sum()))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(4)
    return [
        ((rng.standard_normal((n, t, 4)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
