import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, k=4):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 20)
        self.k = k

    def forward(self, ids):
        logits = self.out(self.emb(ids)[:, -1])
        kth = paddle.topk(logits, self.k)[0][:, -1:]
        logits = paddle.where(logits < kth, paddle.full_like(logits, -1e9), logits)
        return paddle.multinomial(F.softmax(logits))


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, 6], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [(rng.integers(0, 20, (n, 6)).astype("int64"),) for n in (2, 1, 3, 5)]
