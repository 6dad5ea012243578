import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, widths=(8, 8, 8)):
        super().__init__()
        self.lateral = nn.LayerList([nn.Linear(w, 4) for w in widths])

    def forward(self, x):
        levels = [x, x * 0.5, x * 0.25]
        merged = [lat(level) for lat, level in zip(self.lateral, levels)]
        for i in range(len(merged) - 1, 0, -1):
            merged[i - 1] = merged[i - 1] + merged[i]
        return merged


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
