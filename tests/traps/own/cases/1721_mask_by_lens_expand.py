import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, max_len=6):
        super().__init__()
        self.max_len = max_len
        self.rnn = nn.GRU(4, 4)

    def forward(self, x, lens):
        out, h = self.rnn(x, sequence_length=lens)
        idx = (lens - 1).unsqueeze(-1).unsqueeze(-1).expand([-1, 1, 4])
        last = paddle.take_along_axis(out, idx, axis=1).squeeze(1)
        return last, h[0]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 4], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(72)
    return [
        (
            (rng.standard_normal((n, 6, 4)) + s).astype("float32"),
            rng.integers(1, 6, (n,)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
