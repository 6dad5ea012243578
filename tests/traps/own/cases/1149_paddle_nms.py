import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 4)

    def forward(self, x):
        s = F.sigmoid(self.score(x))
        top, index = paddle.topk(s, k=2, axis=0)
        boxes = paddle.take_along_axis(x[:, :4], index, axis=0)
        return boxes * top


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [((rng.standard_normal((4, 8)) + s).astype("float32"),) for s in (2.0, -2.0, 0.5, -0.5)]
