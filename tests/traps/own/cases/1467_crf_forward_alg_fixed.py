import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trans = self.create_parameter([4, 4])
        self.start = self.create_parameter([4])

    def forward(self, x):
        seq_len = x.shape[1]
        alpha = self.start + x[:, 0]
        history = []
        for t in range(1, seq_len):
            scores = alpha.unsqueeze(2) + self.trans
            best, index = scores.max(axis=1), scores.argmax(axis=1)
            history.append(index)
            alpha = best + x[:, t]
        tags = [alpha.argmax(-1)]
        for index in reversed(history):
            tags.append(paddle.take_along_axis(index, tags[-1].unsqueeze(1), 1).squeeze(1))
        return paddle.stack(tags[::-1], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(12)
    return [
        ((rng.standard_normal((n, 5, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
