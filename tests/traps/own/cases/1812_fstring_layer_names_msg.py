import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc0, self.fc1 = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        for i in range(2):
            layer = getattr(self, "fc%d" % i)
            if x.shape[-1] != layer.weight.shape[0]:
                raise RuntimeError(f"layer {i} wants {layer.weight.shape[0]} features, got {x.shape}")
            x = layer(x)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(66)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
