import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, lens):
        y = self.fc(x)
        outs = []
        for i in range(x.shape[0]):
            outs.append(y[i, : lens[i]].sum(0))
        return paddle.stack(outs)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 4], "dtype": "float32"},
    {"name": "lens", "shape": [None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(23)
    return [
        (
            (rng.standard_normal((n, t, 4)) + s).astype("float32"),
            rng.integers(1, 4, (n,)).astype("int64"),
        )
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
