import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, scales=(0.1, 0.2, 0.3, 0.4)):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scales = list(scales)
        self.offset = np.float32(0.5)

    def forward(self, x):
        scale = paddle.to_tensor(self.scales, dtype=x.dtype)
        shift = paddle.full_like(scale, float(self.offset))
        return self.fc(x) * scale + shift


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(76)
    return [
        ((rng.standard_normal((n, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
