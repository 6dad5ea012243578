import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Base(nn.Layer):
    def __init__(self, width):
        super(Base, self).__init__()
        self.fc = nn.Linear(8, width)

    def forward(self, x):
        return self.fc(x)


class Mid(Base):
    def forward(self, x):
        return F.relu(super(Mid, self).forward(x))


class Net(Mid):
    def __init__(self):
        super(Net, self).__init__(4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        y = super(Net, self).forward(x)
        return self.out(y)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(54)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
