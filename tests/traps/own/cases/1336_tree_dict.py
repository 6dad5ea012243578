import numpy as np
import paddle
import paddle.nn as nn


TREE = {"op": "add", "args": [{"op": "leaf", "i": 0}, {"op": "mul", "args": [{"op": "leaf", "i": 1}, {"op": "leaf", "i": 2}]}]}


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.leaves = nn.LayerList([nn.Linear(8, 4) for _ in range(3)])

    def run(self, node, x):
        if node["op"] == "leaf":
            return self.leaves[node["i"]](x)
        a, b = (self.run(each, x) for each in node["args"])
        return a + b if node["op"] == "add" else a * b

    def forward(self, x):
        return self.run(TREE, x)


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
