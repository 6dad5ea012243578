import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.head_0, self.head_1, self.head_2 = (nn.Linear(8, 4) for _ in range(3))

    def forward(self, x):
        which = self.gate(x).mean(0).argmax()
        head = getattr(self, f"head_{int(which)}")
        return head(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
