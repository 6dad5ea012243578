import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


from types import SimpleNamespace


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(8, 4), nn.Linear(4, 8)

    def forward(self, x):
        out = SimpleNamespace(z=None, recon=None)
        out.z = F.tanh(self.enc(x))
        out.recon = self.dec(out.z)
        out.err = (out.recon - x).square().mean(-1)
        return out.recon, out.err


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(51)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
