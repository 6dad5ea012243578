import os

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


USE_FAST = os.environ.get("MODEL_FAST", "0") == "1"


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fast = USE_FAST or bool(int(os.getenv("NET_FAST", "0")))
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        y = self.fc(x)
        return F.relu6(y) if self.fast else F.gelu(y, approximate=True)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(72)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
