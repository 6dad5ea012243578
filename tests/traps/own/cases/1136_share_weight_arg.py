import numpy as np
import paddle
import paddle.nn as nn


class Head(nn.Layer):
    def __init__(self, emb):
        super().__init__()
        self.emb = emb
        self.bias = self.create_parameter([20], is_bias=True)

    def forward(self, h):
        return paddle.matmul(h, self.emb.weight, transpose_y=True) + self.bias


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.head = Head(self.emb)

    def forward(self, x):
        return self.head(x)


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
