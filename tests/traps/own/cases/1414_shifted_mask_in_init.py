import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        img = np.zeros((1, 4, 4, 1), "float32")
        cnt = 0
        for h in (slice(0, -2), slice(-2, -1), slice(-1, None)):
            for w in (slice(0, -2), slice(-2, -1), slice(-1, None)):
                img[:, h, w, :] = cnt
                cnt += 1
        flat = img.reshape(1, 16)
        mask = flat[:, None, :] - flat[:, :, None]
        mask = np.where(mask != 0, -100.0, 0.0).astype("float32")
        self.register_buffer("attn_mask", paddle.to_tensor(mask))
        self.qk = nn.Linear(4, 8)

    def forward(self, x):
        q, k = self.qk(x).split(2, axis=-1)
        attn = q @ k.transpose([0, 2, 1])
        if self.attn_mask is not None:
            attn = attn + self.attn_mask
        return F.softmax(attn) @ x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 16, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(56)
    return [
        ((rng.standard_normal((n, 16, 4)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
