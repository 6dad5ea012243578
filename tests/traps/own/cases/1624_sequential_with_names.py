import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            ("conv", nn.Conv2D(3, 4, 3)), ("bn", nn.BatchNorm2D(4)), ("relu", nn.ReLU()), ("pool", nn.MaxPool2D(2))
        )
        self.classifier = nn.Linear(36, 2)

    def forward(self, x):
        for name, layer in self.features.named_children():
            x = layer(x)
            if name == "relu":
                x = x * 0.5
        return self.classifier(paddle.flatten(x, start_axis=1))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(72)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
