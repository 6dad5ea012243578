import numpy as np
import paddle
import paddle.nn as nn


def channel_shuffle(x, groups):
    b, c, h, w = x.shape[0], x.shape[1], x.shape[2], x.shape[3]
    x = paddle.reshape(x, [-1, groups, c // groups, h, w])
    x = paddle.transpose(x, [0, 2, 1, 3, 4])
    return paddle.reshape(x, [-1, c, h, w])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.pw = nn.Conv2D(4, 4, 1)

    def forward(self, x):
        x1, x2 = paddle.split(x, num_or_sections=2, axis=1)
        return channel_shuffle(paddle.concat([x1, self.pw(x2)], axis=1), 2)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(2)
    return [
        ((rng.standard_normal((n, 8, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
