import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([8, 5])
        self.s, self.m = 30.0, 0.5
        self.cos_m, self.sin_m = math.cos(self.m), math.sin(self.m)

    def forward(self, input, label=None):
        norm = paddle.sqrt(paddle.sum(paddle.square(input), axis=1, keepdim=True))
        input = paddle.divide(input, norm + 1e-12)
        w = self.weight / paddle.sqrt(paddle.sum(paddle.square(self.weight), axis=0, keepdim=True))
        cos = paddle.matmul(input, w)
        if not self.training or label is None:
            return cos
        sin = paddle.sqrt(1.0 - paddle.square(cos) + 1e-6)
        phi = cos * self.cos_m - sin * self.sin_m
        one_hot = F.one_hot(label, 5)
        return self.s * (one_hot * phi + (1.0 - one_hot) * cos)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(4)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
