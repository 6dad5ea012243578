import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


try:
    from paddle.nn.functional import scaled_dot_product_attention as sdpa
except ImportError:
    sdpa = None

HAS_SDPA = sdpa is not None


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.flash = False and HAS_SDPA

    def forward(self, x):
        q = self.fc(x)
        if self.flash:
            return sdpa(q, q, q)
        return F.softmax(q / math.sqrt(q.shape[-1])) * q


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(92)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
