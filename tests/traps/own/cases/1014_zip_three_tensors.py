import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        y = self.fc(x)
        return paddle.stack([a * b for a, b in zip(y, x[:, :4])])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [((rng.standard_normal((4, 8)) + s).astype("float32"),) for s in (2.0, -2.0, 0.5, -0.5)]
