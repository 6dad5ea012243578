import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x, mask):
        count = mask.astype("float32").sum(axis=1)
        if (count == 0).any():
            raise RuntimeError(f"empty row: {count}")
        y = (self.fc(x) * mask.unsqueeze(-1).astype("float32")).sum(axis=1)
        return y / count.unsqueeze(-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
    {"name": "mask", "shape": [None, 6], "dtype": "bool"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"), rng.uniform(size=(n, 6)) > 0.3)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
