import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 4)

    def forward(self, x):
        h = paddle.zeros([x.shape[0], 4])
        state = (h, h)
        outs = []
        for _ in range(2):
            y, state = self.cell(x, state)
            state = paddle.utils.map_structure(lambda s: s * 0.9, state)
            outs.append(y)
        return paddle.stack(outs, 1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(59)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
