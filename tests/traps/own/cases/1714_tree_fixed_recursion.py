import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.merge = nn.Linear(8, 4)

    def reduce(self, nodes):
        if len(nodes) == 1:
            return nodes[0]
        merged = []
        for i in range(0, len(nodes), 2):
            merged.append(F.tanh(self.merge(paddle.concat([nodes[i], nodes[i + 1]], axis=-1))))
        return self.reduce(merged)

    def forward(self, x):
        return self.reduce([x[:, i] for i in range(x.shape[1])])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(65)
    return [
        ((rng.standard_normal((n, 8, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
