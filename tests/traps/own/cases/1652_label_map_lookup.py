import numpy as np
import paddle.nn as nn


LABELS = ["low", "mid", "high", "top"]
GAIN = {"low": 0.5, "mid": 1.0, "high": 2.0, "top": 3.0}


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        name = LABELS[int(y.mean(0).argmax())]
        return y * GAIN[name]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(3)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
