import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.inputs = ("x",)

    def forward(self, x):
        feeds = dict(zip(self.inputs, (x,)))
        missing = [k for k in self.inputs if k not in feeds]
        assert not missing, f"missing {missing}"
        return self.fc(feeds["x"])


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(89)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
