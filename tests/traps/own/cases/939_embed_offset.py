import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(20, 8)
        self.pos = nn.Embedding(16, 8)

    def forward(self, ids, position_ids=None):
        if position_ids is None:
            ones = paddle.ones_like(ids, dtype="int64")
            position_ids = paddle.cumsum(ones, axis=-1) - ones
            position_ids.stop_gradient = True
        return self.tok(ids) + self.pos(position_ids)


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [(rng.integers(0, 20, (n, t)).astype("int64"),) for n, t in ((2, 3), (1, 5), (3, 1), (5, 4))]
