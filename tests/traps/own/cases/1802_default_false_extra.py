import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.aux = nn.Linear(8, 4), nn.Linear(4, 2)

    def forward(self, x, return_aux=False):
        y = self.fc(x)
        result = [y]
        if return_aux:
            result.append(self.aux(y))
        return result if return_aux else result[0]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(56)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
