import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.shapes = []
        handle = self.fc.register_forward_post_hook(lambda l, i, o: self.shapes.append(o.shape))
        self.fc(paddle.zeros([1, 8]))
        handle.remove()

    def forward(self, x):
        return self.fc(x) * self.shapes[0][-1]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(69)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
