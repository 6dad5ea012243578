import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, repeats=(1, 2, 3, 1)):
        super().__init__()
        index = [i for i, r in enumerate(repeats) for _ in range(r)]
        self.register_buffer("index", paddle.to_tensor(index))
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc(paddle.index_select(x, self.index, axis=1))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(14)
    return [
        ((rng.standard_normal((n, 4, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
