import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, thresh=0.1):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.thresh = thresh

    def forward(self, x):
        y = self.fc(x)
        kept = []
        for row in y:
            if row[0] > self.thresh:
                kept.append(row)
        return paddle.stack(kept) if kept else y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(2)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
