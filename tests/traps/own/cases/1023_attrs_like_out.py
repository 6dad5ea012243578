import numpy as np
import paddle
import paddle.nn as nn


class Prediction:
    def __init__(self, logits, label):
        self.logits, self.label = logits, label

    def __iter__(self):
        yield self.logits
        yield self.label


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        y = self.fc(x)
        return y, Prediction(y * 2, y.argmax(axis=-1))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
