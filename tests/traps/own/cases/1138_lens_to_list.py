import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 4)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        last = []
        for i, n in enumerate(lengths.numpy().tolist()):
            last.append(out[i, n - 1])
        return paddle.stack(last)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
    {"name": "lengths", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        (rng.standard_normal((n, t, 8)).astype("float32"), rng.integers(1, t + 1, (n,)).astype("int64"))
        for n, t in ((2, 3), (1, 5), (3, 1), (5, 4))
    ]
