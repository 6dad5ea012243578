from dataclasses import dataclass

import numpy as np
import paddle
import paddle.nn as nn


@dataclass
class State:
    h: paddle.Tensor
    step: int = 0


class Net(nn.Layer):
    def forward(self, x):
        state = State(x * 2.0)
        for _ in range(3):
            state = State(paddle.tanh(state.h), state.step + 1)
        return state.h * state.step


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
