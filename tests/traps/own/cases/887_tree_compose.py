import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.merge = nn.Linear(16, 8)

    def compose(self, nodes):
        if len(nodes) == 1:
            return nodes[0]
        mid = len(nodes) // 2
        left, right = self.compose(nodes[:mid]), self.compose(nodes[mid:])
        return F.tanh(self.merge(paddle.concat([left, right], axis=-1)))

    def forward(self, x):
        return self.compose([x[i] for i in range(4)])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [((rng.standard_normal((4, 8)) + s).astype("float32"),) for s in (2.0, -2.0, 0.5, -0.5)]
