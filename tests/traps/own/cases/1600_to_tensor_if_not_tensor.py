import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def as_tensor(self, value):
        return value if paddle.is_tensor(value) else paddle.to_tensor(value, dtype="float32")

    def forward(self, x):
        scale = self.as_tensor([1.0, 2.0, 3.0, 4.0])
        return self.fc(self.as_tensor(x)) * scale


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(48)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
