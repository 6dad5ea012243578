import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, k=3):
        super().__init__()
        self.k = k
        self.fc = nn.Linear(12, 12)

    def forward(self, x):
        y = self.fc(x)
        k = min(self.k, y.shape[-1])
        val, idx = paddle.topk(y, k=k, axis=-1)
        onehot = F.one_hot(idx, num_classes=12).sum(1)
        return val, y * onehot


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(15)
    return [
        ((rng.standard_normal((n, 12)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
