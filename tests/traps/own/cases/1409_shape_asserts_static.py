import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, img_size=16, patch=4):
        super().__init__()
        self.img_size = (img_size, img_size)
        self.num = (img_size // patch) ** 2
        self.proj = nn.Conv2D(3, 8, patch, patch)
        self.pos = self.create_parameter([1, self.num, 8])

    def forward(self, x):
        b, c, h, w = x.shape
        assert h == self.img_size[0] and w == self.img_size[1], (
            f"Input image size ({h}*{w}) doesn't match model ({self.img_size[0]}*{self.img_size[1]})."
        )
        return self.proj(x).flatten(2).transpose([0, 2, 1]) + self.pos


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(51)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
