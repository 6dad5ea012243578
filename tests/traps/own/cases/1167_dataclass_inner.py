from dataclasses import dataclass, field

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


@dataclass
class State:
    h: object
    steps: int = 0
    log: list = field(default_factory=list)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        state = State(h=x)
        for _ in range(3):
            state.h = F.tanh(self.fc(state.h))
            state.log.append(state.h)
            state.steps += 1
        return paddle.stack(state.log, axis=1) / state.steps


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
