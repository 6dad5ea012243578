import contextlib
import time

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


@contextlib.contextmanager
def timed(name, enabled=False):
    start = time.perf_counter() if enabled else None
    try:
        yield
    finally:
        if enabled:
            print(name, time.perf_counter() - start)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        with timed("fc"):
            y = self.fc(x)
        with timed("act"):
            y = F.relu(y)
        return y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(19)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
