import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def forward(self, x, lens):
        parts = []
        for i, n in enumerate(lens.tolist()):
            parts.append(x[i, :n].mean())
        return paddle.stack(parts)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),
         rng.integers(1, 6, (n,)).astype("int64"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
