import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, beam=2, steps=3):
        super().__init__()
        self.beam, self.steps = beam, steps
        self.step = nn.Linear(6, 6)

    def forward(self, x):
        n = paddle.shape(x)[0]
        logp = F.log_softmax(self.step(x))
        score, token = logp.topk(self.beam, axis=-1)
        tokens = [token]
        state = x.unsqueeze(1).tile([1, self.beam, 1])
        for _ in range(self.steps - 1):
            state = F.tanh(self.step(state))
            total = score.unsqueeze(-1) + F.log_softmax(state)
            score, index = total.reshape([n, -1]).topk(self.beam, axis=-1)
            parent = index // 6
            state = paddle.take_along_axis(state, parent.unsqueeze(-1).tile([1, 1, 6]), axis=1)
            tokens.append(index % 6)
        return score, tokens[-1]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(78)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
