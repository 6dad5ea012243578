import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, eos=3):
        super().__init__()
        self.eos = eos
        self.emb = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 20)

    def forward(self, ids):
        h = self.emb(ids).mean(axis=1)
        finished = paddle.zeros([ids.shape[0]], dtype="bool")
        tokens = []
        for _ in range(3):
            token = self.out(h).argmax(axis=-1)
            finished = finished | (token == self.eos)
            tokens.append(token)
            if finished.all():
                break
            h = h + self.emb(token)
        return paddle.stack(tokens, axis=1)


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, 6], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [(rng.integers(0, 20, (n, 6)).astype("int64"),) for n in (2, 1, 3, 5)]
