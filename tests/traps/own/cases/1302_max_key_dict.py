import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({"a": nn.Linear(8, 4), "b": nn.Linear(8, 4)})

    def forward(self, x):
        scores = {name: head(x).mean() for name, head in self.heads.items()}
        best = max(scores, key=scores.get)
        return self.heads[best](x)


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
