import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1D(8, 6, 3, stride=2, padding=1)

    def out_lens(self, lens):
        return (lens + 2 - 3) // 2 + 1

    def forward(self, x, lens):
        y = F.relu(self.conv(x.transpose([0, 2, 1]))).transpose([0, 2, 1])
        lens = self.out_lens(lens)
        t = paddle.arange(y.shape[1]).unsqueeze(0)
        mask = (t < lens.unsqueeze(1)).unsqueeze(-1)
        return y * mask.astype(y.dtype), lens


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 16, 8], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(69)
    return [
        (
            (rng.standard_normal((n, 16, 8)) + s).astype("float32"),
            rng.integers(4, 16, (n,)).astype("int64"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
