import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, tags=4):
        super().__init__()
        self.fc = nn.Linear(8, tags)
        self.trans = self.create_parameter([tags, tags])

    def forward(self, x):
        emit = self.fc(x)
        score = emit[:, 0]
        back = []
        for t in range(1, emit.shape[1]):
            total = score.unsqueeze(-1) + self.trans.unsqueeze(0)
            back.append(total.argmax(axis=1))
            score = total.max(axis=1) + emit[:, t]
        path = [score.argmax(axis=-1)]
        for hist in reversed(back):
            last = path[-1].unsqueeze(-1)
            path.append(paddle.take_along_axis(hist, last, axis=1).squeeze(-1))
        return paddle.stack(path[::-1], axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
