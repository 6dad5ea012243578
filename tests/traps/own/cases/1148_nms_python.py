import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)
        self.box = nn.Linear(8, 4)

    def forward(self, x):
        s = self.score(x).squeeze(-1)
        b = self.box(x)
        order = s.argsort(descending=True)
        keep = []
        for i in range(4):
            j = order[i]
            if s[j] > -5.0:
                keep.append(b[j])
        return paddle.stack(keep)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [4, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [((rng.standard_normal((4, 8)) + s).astype("float32"),) for s in (2.0, -2.0, 0.5, -0.5)]
