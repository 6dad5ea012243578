import numpy as np
import paddle
import paddle.nn as nn


def keep_top(scores, k):
    order = scores.numpy().argsort()[::-1][:k]
    return paddle.to_tensor(order.copy())


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        return paddle.index_select(y, keep_top(y.mean(0), 3), axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(26)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
