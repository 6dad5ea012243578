import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.merge = nn.Linear(16, 8)

    def forward(self, ids):
        h = self.emb(ids)
        stack = []
        for t in range(6):
            if ids[0, t] % 2 == 0 or len(stack) < 2:
                stack.append(h[:, t])
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(self.merge(paddle.concat([a, b], axis=-1)))
        return paddle.add_n(stack)


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, 6], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [(rng.integers(0, 20, (n, 6)).astype("int64"),) for n in (2, 1, 3, 5)]
