import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, lengths):
        longest = int(lengths.max())
        mask = paddle.arange(longest).unsqueeze(0) < lengths.unsqueeze(1)
        y = self.fc(x[:, :longest])
        return (y * mask.astype("float32").unsqueeze(-1)).sum(axis=1)


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
