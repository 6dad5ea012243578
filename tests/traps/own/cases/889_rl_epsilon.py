import random

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, epsilon=0.5):
        super().__init__()
        self.epsilon = epsilon
        self.q = nn.Linear(8, 4)

    def act(self, q):
        if random.random() < self.epsilon:
            return paddle.zeros([q.shape[0]], dtype="int64")
        return q.argmax(axis=-1)

    def forward(self, x):
        q = self.q(x)
        return q, self.act(q)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
