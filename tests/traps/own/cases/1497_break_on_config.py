import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, stop_at=1, skip=(0,)):
        super().__init__()
        self.stages = nn.LayerList([nn.Linear(8, 8) for _ in range(4)])
        self.stop_at, self.skip = stop_at, skip

    def forward(self, x):
        for i, stage in enumerate(self.stages):
            if i in self.skip:
                continue
            x = F.relu(stage(x))
            if i > self.stop_at:
                break
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(42)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
