import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(8, 4)
        self.teacher = nn.Linear(8, 4)
        for p in self.teacher.parameters():
            p.stop_gradient = True

    @paddle.no_grad()
    def target(self, x):
        return F.softmax(self.teacher(x) / 0.1)

    def forward(self, x):
        t = self.target(x)
        s = F.log_softmax(self.student(x))
        with paddle.no_grad():
            w = t.max(-1, keepdim=True)
        return s * w, t.detach() * 2.0


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(9)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
