import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def gaussian(width, sigma=1.5):
    pos = np.arange(width) - (width - 1) / 2
    k = np.exp(-(pos**2) / (2 * sigma**2))
    return (k / k.sum()).astype("float32")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.width = 5

    def forward(self, x):
        k = paddle.to_tensor(gaussian(self.width)).reshape([1, 1, -1])
        return F.conv1d(x.unsqueeze(1), k, padding=self.width // 2).squeeze(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(90)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
