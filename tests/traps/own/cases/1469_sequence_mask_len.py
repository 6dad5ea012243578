import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def make_mask(self, lens, maxlen):
        steps = paddle.arange(maxlen).unsqueeze(0)
        return (steps < lens.unsqueeze(1)).astype("float32")

    def forward(self, x, lens):
        y = self.fc(x)
        mask = self.make_mask(lens, paddle.shape(x)[1])
        return (y * mask.unsqueeze(-1)).sum(1) / lens.unsqueeze(-1).astype(y.dtype)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(14)
    return [
        (
            (rng.standard_normal((n, t, 4)) + s).astype("float32"),
            rng.integers(1, 4, (n,)).astype("int64"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
