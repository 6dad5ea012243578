import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def pool(self, h, m):
        return (h * m.unsqueeze(-1)).sum(1) / (m.sum(1, keepdim=True) + 1e-6)

    def forward(self, x, mask):
        h = self.fc(x)
        return self.pool(h, mask), self.pool(h, 1.0 - mask)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
    {"name": "mask", "shape": [None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(2)
    return [
        (
            (rng.standard_normal((n, t, 4)) + s).astype("float32"),
            rng.random((n, t)).astype("float32"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
