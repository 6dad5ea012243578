import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("steps", paddle.zeros([1], dtype="int64"))
        self.reset()

    def reset(self):
        self.steps.set_value(paddle.full([1], 3, dtype="int64"))
        self.fc.weight.set_value(self.fc.weight * 0.5)

    def forward(self, x):
        return self.fc(x) * self.steps.astype("float32")


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(27)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
