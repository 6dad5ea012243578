import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Bilinear(6, 2, 3)

    def forward(self, x, y):
        total = []
        for i, (a, b) in enumerate(zip(x.unbind(1), y.split(4, axis=1))):
            total.append(self.fc(a, b) * (i + 1))
        return paddle.add_n(total)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
    {"name": "y", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(40)
    return [
        (
            (rng.standard_normal((n, 4, 6)) + s).astype("float32"),
            (rng.standard_normal((n, 8)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
