import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, margin=0.3, scale=16.0):
        super().__init__()
        self.w = self.create_parameter([8, 4])
        self.cos_m, self.sin_m = math.cos(margin), math.sin(margin)
        self.scale = scale

    def forward(self, x, label=None):
        cos = paddle.matmul(F.normalize(x), F.normalize(self.w, axis=0))
        if not self.training or label is None:
            return cos * self.scale
        sin = paddle.sqrt(1 - cos**2)
        phi = cos * self.cos_m - sin * self.sin_m
        hot = F.one_hot(label, 4)
        return (hot * phi + (1 - hot) * cos) * self.scale


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
