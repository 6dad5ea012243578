import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.att = nn.Linear(8, 1)

    def forward(self, x, src, dst):
        h = self.fc(x)
        pair = paddle.concat([paddle.gather(h, src), paddle.gather(h, dst)], axis=-1)
        e = paddle.exp(F.leaky_relu(self.att(pair)))
        norm = paddle.scatter(paddle.zeros([x.shape[0], 1]), dst, e, overwrite=False)
        msg = paddle.gather(h, src) * e / (paddle.gather(norm, dst) + 1e-6)
        return paddle.scatter(paddle.zeros_like(h), dst, msg, overwrite=False) + h


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
