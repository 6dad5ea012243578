import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU())
        for p in self.backbone.parameters():
            p.stop_gradient = True
        self.head = nn.Linear(4, 2)

    def train(self):
        super().train()
        self.backbone.eval()

    def forward(self, x):
        self.backbone.eval()
        with paddle.no_grad():
            f = self.backbone(x)
        return self.head(f.mean([2, 3]))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 6, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(50)
    return [
        ((rng.standard_normal((n, 3, 6, 6)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
