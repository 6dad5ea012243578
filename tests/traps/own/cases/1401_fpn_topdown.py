import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, chans=(8, 16, 24), out=8):
        super().__init__()
        self.down = nn.LayerList()
        last = 3
        for c in chans:
            self.down.append(nn.Conv2D(last, c, 3, 2, 1))
            last = c
        self.lateral = nn.LayerList([nn.Conv2D(c, out, 1) for c in chans])
        self.fpn = nn.LayerList([nn.Conv2D(out, out, 3, padding=1) for _ in chans])

    def forward(self, x):
        body = []
        for layer in self.down:
            x = F.relu(layer(x))
            body.append(x)
        num = len(body)
        laterals = [conv(f) for conv, f in zip(self.lateral, body)]
        for i in range(1, num):
            lvl = num - i
            up = F.interpolate(laterals[lvl], scale_factor=2.0, mode="nearest")
            laterals[lvl - 1] += up
        return [self.fpn[i](laterals[i]) for i in range(num)]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 32, 32], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(43)
    return [
        ((rng.standard_normal((n, 3, 32, 32)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
