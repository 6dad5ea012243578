import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(10, 4)
        self.segment = nn.Embedding(2, 4)
        self.norm1, self.norm2 = nn.LayerNorm(4), nn.LayerNorm(4)

    def forward(self, ids, seg):
        h = self.word(ids) + self.segment(seg)
        return self.norm1(h) * 2.0, self.norm2(h + 1.0)


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, None], "dtype": "int64"},
    {"name": "seg", "shape": [None, None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(96)
    return [
        (
            rng.integers(0, 10, (n, t)).astype("int64"),
            rng.integers(0, 2, (n, t)).astype("int64"),
        )
        for n, t, _s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
