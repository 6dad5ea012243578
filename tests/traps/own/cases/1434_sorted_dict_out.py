import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({name: nn.Linear(8, 2) for name in ("wh", "heat", "offset")})

    def forward(self, x):
        raw = {name: head(x) for name, head in self.heads.items()}
        raw["heat"] = F.sigmoid(raw["heat"])
        return {key: raw[key] for key in sorted(raw)}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(76)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
