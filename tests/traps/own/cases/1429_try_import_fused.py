import numpy as np
import paddle
import paddle.nn as nn


try:
    from paddle_fused_ops_not_there import fused_rms as _fused
except ImportError:
    _fused = None


def rms_norm(x, w, eps=1e-6):
    if _fused is not None:
        return _fused(x, w, eps)
    return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([8], default_initializer=nn.initializer.Constant(1.5))

    def forward(self, x):
        return rms_norm(x, self.w)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(71)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
