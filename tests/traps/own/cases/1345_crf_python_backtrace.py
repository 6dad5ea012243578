import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, tags=4):
        super().__init__()
        self.fc = nn.Linear(8, tags)

    def forward(self, x):
        best = self.fc(x).argmax(axis=-1)
        runs = []
        for row in best.numpy():
            runs.append(len(set(row.tolist())))
        return best * max(runs)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
