import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, beam=2):
        super().__init__()
        self.beam = beam
        self.emb = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 20)

    def forward(self, ids):
        batch = ids.shape[0]
        h = self.emb(ids).mean(axis=1)
        scores = F.log_softmax(self.out(h), axis=-1)
        best, index = paddle.topk(scores, self.beam, axis=-1)
        offsets = paddle.arange(batch).unsqueeze(-1) * 20
        return best, index + offsets


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, 6], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [(rng.integers(0, 20, (n, 6)).astype("int64"),) for n in (2, 1, 3, 5)]
