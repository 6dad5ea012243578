import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, verbose=False):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.seen = []
        if verbose:
            self.fc.register_forward_post_hook(self._keep)

    def _keep(self, layer, inputs, output):
        self.seen.append(output)

    def forward(self, x):
        return F.relu(self.fc(x))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(93)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
