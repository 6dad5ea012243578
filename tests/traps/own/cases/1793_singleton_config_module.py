import numpy as np
import paddle.nn as nn


class _Config:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.values = {"scale": 0.5, "bias": 1.0}
        return cls._instance

    def get(self, key, default=None):
        return self.values.get(key, default)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.cfg = _Config()

    def forward(self, x):
        return self.fc(x) * _Config().get("scale") + self.cfg.get("bias", 0.0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(47)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
