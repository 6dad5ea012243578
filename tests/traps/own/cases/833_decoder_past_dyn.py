import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)

    def forward(self, x):
        past = None
        outs = paddle.zeros([x.shape[0], 8])
        for t in range(x.shape[1]):
            k = self.k(x[:, t])
            if past is None:
                past = k
            else:
                past = 0.5 * past + k
            outs = outs + past
        return outs


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 3, 2.0), (1, 5, -2.0), (3, 1, 0.5), (5, 4, -0.5))
    ]
