import numpy as np
import paddle
import paddle.nn as nn


class Node:
    def __init__(self, index, children=()):
        self.index = index
        self.children = children


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 8)
        self.tree = Node(0, (Node(1), Node(2, (Node(3),))))

    def encode(self, node, x):
        h = x * (node.index + 1.0)
        for child in node.children:
            h = self.mix(paddle.concat([h, self.encode(child, x)], axis=-1))
        return h

    def forward(self, x):
        return self.encode(self.tree, x)


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
