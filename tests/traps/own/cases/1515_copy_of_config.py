import copy

import numpy as np
import paddle
import paddle.nn as nn


CFG = {"head": {"type": "Linear", "out": 3}, "act": "tanh"}


def build(cfg, **extra):
    cfg = copy.deepcopy(cfg)
    kind = cfg.pop("type")
    return getattr(nn, kind)(out_features=cfg.pop("out"), **cfg, **extra)


class Net(nn.Layer):
    def __init__(self, cfg=CFG):
        super().__init__()
        self.cfg = copy.deepcopy(cfg)
        self.head = build(cfg["head"], in_features=8)

    def forward(self, x):
        act = self.cfg.get("act")
        y = self.head(x)
        return getattr(paddle, act)(y) if act else y


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(60)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
