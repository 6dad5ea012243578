import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stages = nn.LayerList([nn.Conv2D(3, 3, 3, padding=1) for _ in range(3)])
        self.out = (0, 2)

    def forward(self, x):
        feats = []
        for i, stage in enumerate(self.stages):
            x = F.relu(stage(x))
            if i in self.out:
                feats.append(x)
        return paddle.concat(feats, axis=1).mean(axis=[2, 3])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
