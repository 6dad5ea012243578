import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.degree = {}

    def forward(self, x, src, dst):
        h = self.fc(x)
        n = x.shape[0]
        if "deg" not in self.degree:
            ones = paddle.ones([dst.shape[0], 1])
            self.degree["deg"] = paddle.scatter(paddle.zeros([8, 1]), dst, ones, overwrite=False)
        agg = paddle.scatter(paddle.zeros_like(h), dst, paddle.gather(h, src), overwrite=False)
        return agg / (self.degree["deg"][:n] + 1.0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
    {"name": "src", "shape": [None], "dtype": "int64"},
    {"name": "dst", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        (
            (rng.standard_normal((n, 8)) + s).astype("float32"),
            rng.integers(0, n, (e,)).astype("int64"),
            rng.integers(0, n, (e,)).astype("int64"),
        )
        for n, e, s in ((2, 3, 2.0), (1, 5, -2.0), (3, 1, 0.5), (5, 4, -0.5))
    ]
