import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.register_buffer("temp", paddle.full([1], 2.0))
        self.register_buffer("prior", paddle.ones([4]) / 4)

    def set_temperature(self, value):
        self.temp.set_value(paddle.full([1], value))

    def forward(self, x):
        logits = self.fc(x) / self.temp
        return logits - paddle.log(self.prior)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(61)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
