import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, chans=(4, 8)):
        super().__init__()
        self.stem = nn.LayerList([nn.Conv2D(3, c, 3, 2 ** (i + 1), 1) for i, c in enumerate(chans)])
        self.fuse = nn.LayerList()
        for i, ci in enumerate(chans):
            row = nn.LayerList()
            for j, cj in enumerate(chans):
                if i == j:
                    row.append(nn.Identity())
                elif j > i:
                    row.append(nn.Conv2D(cj, ci, 1))
                else:
                    row.append(nn.Conv2D(cj, ci, 3, 2, 1))
            self.fuse.append(row)

    def forward(self, x):
        xs = [F.relu(c(x)) for c in self.stem]
        outs = []
        for i, row in enumerate(self.fuse):
            residual = xs[i]
            for j, layer in enumerate(row):
                if i == j:
                    continue
                y = layer(xs[j])
                if j > i:
                    y = F.interpolate(y, residual.shape[2:], mode="bilinear")
                residual = residual + y
            outs.append(F.relu(residual))
        return outs


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(46)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
