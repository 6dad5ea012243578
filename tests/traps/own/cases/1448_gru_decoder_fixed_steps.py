import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, steps=4, vocab=7):
        super().__init__()
        self.steps = steps
        self.vocab = vocab
        self.cell = nn.GRUCell(8 + vocab, 8)
        self.attn = nn.Linear(8, 1)
        self.gen = nn.Linear(8, vocab)

    def forward(self, x):
        hidden = paddle.zeros([x.shape[0], 8])
        target = paddle.zeros([x.shape[0]], dtype="int64")
        probs = None
        for i in range(self.steps):
            onehot = F.one_hot(target, self.vocab)
            alpha = F.softmax(self.attn(F.tanh(x + hidden.unsqueeze(1))), axis=1)
            ctx = (alpha * x).sum(1)
            out, hidden = self.cell(paddle.concat([ctx, onehot], 1), hidden)
            step = self.gen(out).unsqueeze(1)
            probs = step if probs is None else paddle.concat([probs, step], axis=1)
            target = step.squeeze(1).argmax(axis=-1)
        return F.softmax(probs, axis=2)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(90)
    return [
        ((rng.standard_normal((n, 6, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
