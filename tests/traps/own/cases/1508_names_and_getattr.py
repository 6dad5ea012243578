import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.names = []
        for i, out in enumerate((8, 6, 4)):
            name = f"block{i}"
            self.add_sublayer(name, nn.Linear(8 if i < 2 else 6, out))
            self.names.append(name)

    def forward(self, x):
        for name in self.names:
            layer = getattr(self, name)
            x = F.relu(layer(x)) if name != self.names[-1] else layer(x)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(53)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
