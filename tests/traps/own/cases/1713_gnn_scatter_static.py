import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
        src, dst = zip(*edges)
        self.register_buffer("src", paddle.to_tensor(src, dtype="int64"))
        self.register_buffer("dst", paddle.to_tensor(dst, dtype="int64"))
        self.msg = nn.Linear(8, 4)

    def forward(self, x):
        h = paddle.transpose(x, [1, 0, 2])
        m = F.relu(self.msg(paddle.concat([paddle.gather(h, self.src), paddle.gather(h, self.dst)], axis=-1)))
        agg = paddle.scatter(paddle.zeros_like(h), self.dst, m, overwrite=False)
        return (h + agg).transpose([1, 0, 2])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(64)
    return [
        ((rng.standard_normal((n, 5, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
