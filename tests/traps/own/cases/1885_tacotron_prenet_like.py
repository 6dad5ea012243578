import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, use_attn=True):
        super().__init__()
        self.prenet = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5))
        self.rnn = nn.LSTMCell(8, 6)
        self.query, self.keys = nn.Linear(6, 4), nn.Linear(4, 4)
        self.out = nn.Linear(6, 3)
        self.use_attn = use_attn

    def attend(self, q, keys):
        e = paddle.tanh(q.unsqueeze(1) + keys).sum(-1)
        return F.softmax(e, axis=-1)

    def step(self, frame, state, x, keys):
        h = self.prenet(frame)
        w = self.attend(self.query(state[0]), keys) if self.use_attn else None
        ctx = paddle.bmm(w.unsqueeze(1), x).squeeze(1) if w is not None else x.mean(1)
        y, state = self.rnn(paddle.concat([h, ctx], axis=-1), state)
        return self.out(y), state, w

    def forward(self, x):
        n = x.shape[0]
        keys = self.keys(x)
        state = (paddle.zeros([n, 6]), paddle.zeros([n, 6]))
        frame = paddle.zeros([n, 3])
        frames, weights = [], []
        for _ in range(3):
            frame, state, w = self.step(frame, state, x, keys)
            frames.append(frame)
            if w is not None:
                weights.append(w)
        mel = paddle.stack(frames, axis=1)
        return (mel, paddle.stack(weights, axis=1)) if weights else mel


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 5, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(42)
    return [
        ((rng.standard_normal((n, 5, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
