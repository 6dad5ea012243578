import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, stages=("stem", "mid", "out"), until="mid"):
        super().__init__()
        self.stages = stages
        self.until = until
        for s in stages:
            self.add_sublayer(s, nn.Linear(8, 8))

    def forward(self, x):
        done = False
        for s in self.stages:
            if done:
                break
            x = F.relu(getattr(self, s)(x))
            done = s == self.until
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(24)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
