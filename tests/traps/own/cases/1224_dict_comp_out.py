import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, tasks=("seg", "cls", "box")):
        super().__init__()
        self.tasks = tasks
        self.heads = nn.LayerDict({t: nn.Linear(8, i + 2) for i, t in enumerate(tasks)})

    def forward(self, x):
        return {t: self.heads[t](x) for t in self.tasks}


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
