import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 5, num_layers=2, direction="bidirect")
        self.fc = nn.Linear(10, 3)

    def forward(self, x):
        out, (h, c) = self.rnn(x)
        last = paddle.concat([h[-2], h[-1]], axis=-1)
        return self.fc(out), self.fc(last)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(91)
    return [
        ((rng.standard_normal((n, t, 6)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
