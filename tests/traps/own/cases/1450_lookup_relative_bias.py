import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, size=2):
        super().__init__()
        coords = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij")).reshape(2, -1)
        rel = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0)
        rel = rel + (size - 1)
        index = (rel[..., 0] * (2 * size - 1) + rel[..., 1]).astype("int64")
        self.register_buffer("index", paddle.to_tensor(index.reshape(-1)))
        self.table = self.create_parameter([(2 * size - 1) ** 2, 2])
        self.n = size * size

    def forward(self, x):
        bias = paddle.index_select(self.table, self.index).reshape([self.n, self.n, -1]).transpose([2, 0, 1])
        q = x.reshape([-1, self.n, 2, 4]).transpose([0, 2, 1, 3])
        attn = F.softmax(q @ q.transpose([0, 1, 3, 2]) + bias.unsqueeze(0))
        return (attn @ q).transpose([0, 2, 1, 3]).reshape([-1, self.n, 8])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(92)
    return [
        ((rng.standard_normal((n, 4, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
