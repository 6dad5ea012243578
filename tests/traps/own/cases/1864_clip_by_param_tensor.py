import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.alpha = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.8))

    def forward(self, x):
        y = self.fc(x)
        y = paddle.minimum(paddle.maximum(y, -self.alpha), self.alpha)
        if self.alpha.shape == [1]:
            y = y / self.alpha
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(21)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
