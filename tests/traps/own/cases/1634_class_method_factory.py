import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, width, depth, act):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(width, width) for _ in range(depth)])
        self.act = act

    @classmethod
    def from_config(cls, config):
        return cls(**{k: v for k, v in config.items() if k in ("width", "depth", "act")})

    @staticmethod
    def scale(x):
        return x * (x.shape[-1] ** -0.5)

    def forward(self, x):
        for layer in self.layers:
            x = self.act(self.scale(layer(x)))
        return x


def make():
    return Net.from_config({"width": 8, "depth": 2, "act": F.tanh, "name": "tiny"})


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(82)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
