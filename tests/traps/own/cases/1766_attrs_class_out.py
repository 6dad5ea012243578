import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Prediction:
    __slots__ = ("boxes", "scores")

    def __init__(self, boxes, scores):
        self.boxes = boxes
        self.scores = scores


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)

    def forward(self, x):
        y = self.fc(x)
        return Prediction(y[:, :4], F.sigmoid(y[:, 4:]))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(20)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
