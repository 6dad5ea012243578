import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cls_token = self.create_parameter([1, 1, 8])
        self.add_parameter("cls_token", self.cls_token)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        B = paddle.shape(x)[0]
        cls = self.cls_token.expand((B, -1, -1)).astype(x.dtype)
        x = paddle.concat((cls, x), axis=1)
        x = self.norm(x)
        return x[:, 0]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(53)
    return [
        ((rng.standard_normal((n, 4, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
