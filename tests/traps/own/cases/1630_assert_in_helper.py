import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


def check(a, b, name="inputs"):
    assert a.shape[1:] == b.shape[1:], f"{name}: {a.shape} against {b.shape}"
    assert a.dtype == b.dtype
    return a, b


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, y):
        x, y = check(self.fc(x), self.fc(y), name="branches")
        return F.cosine_similarity(x, y, axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "y", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(78)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            (rng.standard_normal((n, 8)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
