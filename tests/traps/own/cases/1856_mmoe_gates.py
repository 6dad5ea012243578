import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, experts=3, tasks=2):
        super().__init__()
        self.experts = nn.LayerList([nn.Linear(6, 4) for _ in range(experts)])
        self.gates = nn.LayerList([nn.Linear(6, experts) for _ in range(tasks)])
        self.towers = nn.LayerList([nn.Linear(4, 1) for _ in range(tasks)])

    def forward(self, x):
        es = paddle.stack([F.relu(e(x)) for e in self.experts], axis=1)
        outs = []
        for gate, tower in zip(self.gates, self.towers):
            g = F.softmax(gate(x)).unsqueeze(-1)
            outs.append(F.sigmoid(tower((g * es).sum(1))))
        return outs


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(13)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
