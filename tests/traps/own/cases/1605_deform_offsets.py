import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.theta = nn.Linear(4, 6)
        self.theta.weight.set_value(paddle.zeros([4, 6]))
        self.theta.bias.set_value(paddle.to_tensor([1.0, 0.0, 0.1, 0.0, 1.0, -0.1]))

    def forward(self, x):
        theta = self.theta(x.mean([2, 3])).reshape([-1, 2, 3])
        grid = F.affine_grid(theta, [x.shape[0], x.shape[1], 8, 8], align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(53)
    return [
        ((rng.standard_normal((n, 4, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
