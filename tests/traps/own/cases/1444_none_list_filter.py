import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, use=(True, False, True)):
        super().__init__()
        self.branches = nn.LayerList([nn.Linear(8, 4) if u else nn.Identity() for u in use])
        self.use = use

    def forward(self, x):
        outs = [b(x) if u else None for b, u in zip(self.branches, self.use)]
        outs = [o for o in outs if o is not None]
        assert len(outs) > 0, "no branch is used"
        return paddle.add_n(outs) if len(outs) > 1 else outs[0]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(86)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
