import numpy as np
import paddle.nn as nn


def rearrange(x, pattern, **sizes):
    left, right = (side.split() for side in pattern.split("->"))
    if left == ["b", "c", "h", "w"] and right == ["b", "(h", "w)", "c"]:
        return x.flatten(2).transpose([0, 2, 1])
    if left == ["b", "(h", "w)", "c"]:
        return x.transpose([0, 2, 1]).reshape([0, -1, sizes["h"], sizes["w"]])
    raise NotImplementedError(pattern)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        h, w = x.shape[-2:]
        t = rearrange(x, "b c h w -> b (h w) c")
        return rearrange(self.fc(t), "b (h w) c -> b c h w", h=h, w=w) + x


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8, 4, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(70)
    return [
        ((rng.standard_normal((n, 8, 4, 4)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
