import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, lens):
        assert x.shape[0] == lens.shape[0], "one length a row"
        return self.fc(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(6)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.integers(1, 8, (n,)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
