import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


def tree_map(fn, tree):
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(fn, v) for v in tree)
    return fn(tree)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), nn.Linear(6, 4)

    def forward(self, x, y):
        tree = {"left": [self.a(x)], "right": (self.b(y),)}
        tree = tree_map(F.relu, tree)
        return tree["left"][0] + tree["right"][0]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "y", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(52)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            (rng.standard_normal((n, 6)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
