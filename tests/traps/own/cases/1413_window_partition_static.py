import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def window_partition(x, size):
    B, H, W, C = x.shape
    x = x.reshape([-1, H // size, size, W // size, size, C])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, size, size, C])


def window_reverse(windows, size, H, W, C):
    x = windows.reshape([-1, H // size, W // size, size, size, C])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, H, W, C])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.size, self.shift = 4, 2
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        _, H, W, C = x.shape
        if self.shift > 0:
            x = paddle.roll(x, shifts=(-self.shift, -self.shift), axis=(1, 2))
        win = window_partition(x, self.size).reshape([-1, self.size * self.size, C])
        win = F.gelu(self.fc(win)).reshape([-1, self.size, self.size, C])
        x = window_reverse(win, self.size, H, W, C)
        if self.shift > 0:
            x = paddle.roll(x, shifts=(self.shift, self.shift), axis=(1, 2))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8, 8, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(55)
    return [
        ((rng.standard_normal((n, 8, 8, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
