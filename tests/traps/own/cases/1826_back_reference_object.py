import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Decoder:
    def __init__(self, owner):
        self.owner = owner
        self.head = owner.head

    def decode(self, h):
        return F.log_softmax(self.head(h) + self.owner.bias)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.head = nn.Linear(8, 3)
        self.bias = self.create_parameter([3], is_bias=True)
        self.decoder = Decoder(self)

    def forward(self, x):
        return self.decoder.decode(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(80)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
