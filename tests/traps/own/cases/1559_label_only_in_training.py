import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, label):
        logits = self.fc(x)
        if self.training:
            return F.cross_entropy(logits, label)
        return F.softmax(logits)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "label", "shape": [None, 1], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(7)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.integers(0, 4, (n, 1)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
