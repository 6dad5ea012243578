import math

import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, scale=4):
        super().__init__()
        ups = []
        if scale & (scale - 1) == 0:
            for _ in range(int(math.log(scale, 2))):
                ups += [nn.Conv2D(3, 12, 3, padding=1), nn.PixelShuffle(2)]
        elif scale == 3:
            ups += [nn.Conv2D(3, 27, 3, padding=1), nn.PixelShuffle(3)]
        self.up = nn.Sequential(*ups)

    def forward(self, x):
        return self.up(x).clip(0.0, 1.0)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(11)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
