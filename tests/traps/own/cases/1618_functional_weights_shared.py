import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, vocab=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.norm = nn.LayerNorm(8)
        self.bias = self.create_parameter([vocab], is_bias=True)

    def forward(self, x):
        h = self.norm(x)
        return paddle.matmul(h, self.embed.weight, transpose_y=True) + self.bias


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(66)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
