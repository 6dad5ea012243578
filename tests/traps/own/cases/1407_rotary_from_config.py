import numpy as np
import paddle
import paddle.nn as nn


class Rotary(nn.Layer):
    def __init__(self, dim, max_len=32, base=10000.0):
        super().__init__()
        inv = 1.0 / (base ** (np.arange(0, dim, 2).astype("float32") / dim))
        freqs = np.outer(np.arange(max_len).astype("float32"), inv)
        emb = np.concatenate([freqs, freqs], axis=-1)
        self.register_buffer("cos", paddle.to_tensor(np.cos(emb).astype("float32")), persistable=False)
        self.register_buffer("sin", paddle.to_tensor(np.sin(emb).astype("float32")), persistable=False)

    def forward(self, x, seq_len):
        return self.cos[:seq_len], self.sin[:seq_len]


def rotate_half(x):
    x1, x2 = x.chunk(2, axis=-1)
    return paddle.concat([-x2, x1], axis=-1)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        q = self.fc(x)
        cos, sin = self.rotary(q, seq_len=paddle.shape(q)[1])
        return q * cos + rotate_half(q) * sin


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(49)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
