import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def degree(self, dst, n):
        ones = paddle.ones([dst.shape[0]], dtype="float32")
        return paddle.scatter(paddle.zeros([n]), dst, ones, overwrite=False).clip(min=1.0)

    def forward(self, x, src, dst):
        h = self.fc(x)
        deg = self.degree(dst, x.shape[0])
        agg = paddle.geometric.send_u_recv(h, src, dst, reduce_op="sum", out_size=x.shape[0])
        return agg / deg.unsqueeze(-1)


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
