import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)

    def forward(self, x, mask):
        s = self.score(x).squeeze(-1)
        s = paddle.where(mask, s, paddle.full_like(s, -1e4))
        w = F.softmax(s, -1)
        w = w.masked_fill(paddle.logical_not(mask), 0.0)
        return (w.unsqueeze(-1) * x).sum(1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
    {"name": "mask", "shape": [None, None], "dtype": "bool"},
]


def inputs():
    rng = np.random.default_rng(17)
    return [
        (
            (rng.standard_normal((n, t, 8)) + s).astype("float32"),
            rng.random((n, t)) < 0.5,
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
