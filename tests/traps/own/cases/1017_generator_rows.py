import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, lengths):
        pooled = [x[i, : lengths[i]].mean(axis=0) for i in range(x.shape[0])]
        return self.fc(paddle.stack(pooled))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
    {"name": "lengths", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        (rng.standard_normal((n, t, 8)).astype("float32"), rng.integers(1, t + 1, (n,)).astype("int64"))
        for n, t in ((2, 3), (1, 5), (3, 1), (5, 4))
    ]
