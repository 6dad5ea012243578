import os

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        major = int(paddle.__version__.split(".")[0])
        self.approx = major >= 2 and not os.environ.get("EXACT_GELU")
        self.fc = nn.Linear(8, 8)
        self.device = paddle.get_device()

    def forward(self, x):
        y = F.gelu(self.fc(x), approximate=self.approx)
        if self.device.startswith("gpu"):
            y = y.astype("float32")
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(89)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
