import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Base(nn.Layer):
    @property
    def device_name(self):
        return "cpu"

    @property
    def width(self):
        return self.fc.weight.shape[1]

    @property
    def norm_weight(self):
        w = self.fc.weight
        return w / (w.norm(axis=0, keepdim=True) + 1e-6)


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = F.normalize(x, axis=-1)
        return paddle.matmul(x, self.norm_weight) * (self.width**0.5)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(66)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
