import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


ACTS = {"step": lambda t: t if t.mean() > 0 else -t, "tanh": F.tanh}


class Net(nn.Layer):
    def __init__(self, act="step"):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = ACTS[act]

    def forward(self, x):
        return self.act(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(30)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
