import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, n=3):
        super().__init__()
        self.gate = nn.Linear(8, n)
        self.experts = nn.LayerList([nn.Linear(8, 4) for _ in range(n)])

    def forward(self, x):
        choice = self.gate(x).argmax(axis=-1)
        out = paddle.zeros([x.shape[0], 4])
        for i, expert in enumerate(self.experts):
            pick = (choice == i).astype("float32").unsqueeze(-1)
            out = out + pick * expert(x)
        return out


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
