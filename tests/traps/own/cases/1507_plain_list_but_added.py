import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stages = []
        for i in range(3):
            self.stages.append(self.add_sublayer(f"stage_{i}", nn.Linear(8, 8)))
        self.acts = [nn.ReLU(), nn.Sigmoid(), nn.Identity()]

    def forward(self, x):
        for stage, act in zip(self.stages, self.acts):
            x = act(stage(x))
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(52)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
