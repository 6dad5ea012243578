import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


STEPS = [dict(op="linear", gain=1.0), dict(op="act", name="relu"), dict(op="scale", by=0.5)]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        for step in STEPS:
            if step["op"] == "linear":
                x = self.fc(x) * step["gain"]
            elif step["op"] == "act":
                x = getattr(F, step["name"])(x)
            else:
                x = x * step.get("by", 1.0)
        return x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),)
        for n, s in ((2, 2.0), (1, -2.0), (3, 0.5), (5, -0.5))
    ]
