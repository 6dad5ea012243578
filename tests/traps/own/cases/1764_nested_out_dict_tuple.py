import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 2), nn.Linear(8, 3), nn.Linear(8, 4)

    def forward(self, x):
        stage1 = {"rpn_score": self.a(x), "rpn_box": self.b(x)}
        return stage1, self.c(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(18)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
