import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cls = nn.LayerList([nn.Linear(8, 3) for _ in range(2)])
        self.reg = nn.LayerList([nn.Linear(8, 4) for _ in range(2)])

    def single(self, x, cls, reg):
        return F.sigmoid(cls(x)), reg(x)

    def forward(self, x):
        outs = [self.single(x, c, r) for c, r in zip(self.cls, self.reg)]
        scores, boxes = map(list, zip(*outs))
        return paddle.stack(scores, 1), paddle.stack(boxes, 1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(53)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
