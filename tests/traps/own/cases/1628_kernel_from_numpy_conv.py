import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        sobel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], "float32")
        kernel = np.stack([sobel, sobel.T])[:, None].repeat(1, axis=1)
        self.register_buffer("kernel", paddle.to_tensor(np.tile(kernel, (3, 1, 1, 1))))

    def forward(self, x):
        g = F.conv2d(x, self.kernel, padding=1, groups=3)
        gx, gy = g[:, 0::2], g[:, 1::2]
        return paddle.sqrt(gx * gx + gy * gy + 1e-6)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(76)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
