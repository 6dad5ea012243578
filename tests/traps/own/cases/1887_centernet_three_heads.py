import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, heads=(("heatmap", 2), ("size", 2), ("offset", 2))):
        super().__init__()
        self.body = nn.Conv2D(3, 6, 3, 2, 1)
        self.names = [n for n, _ in heads]
        for name, ch in heads:
            layer = nn.Sequential(nn.Conv2D(6, 6, 3, padding=1), nn.ReLU(), nn.Conv2D(6, ch, 1))
            setattr(self, f"{name}_head", layer)

    def decode(self, heat, size, offset, k=3):
        pooled = F.max_pool2d(heat, 3, stride=1, padding=1)
        heat = heat * (pooled == heat).astype(heat.dtype)
        score, index = heat.flatten(1).topk(k, axis=-1)
        index = index % (heat.shape[2] * heat.shape[3])

        def gather(t):
            t = t.flatten(2).transpose([0, 2, 1])
            return paddle.take_along_axis(t, index.unsqueeze(-1).expand([-1, -1, 2]), axis=1)

        return score, gather(size), gather(offset)

    def forward(self, x):
        f = F.relu(self.body(x))
        outs = {name: getattr(self, f"{name}_head")(f) for name in self.names}
        outs["heatmap"] = F.sigmoid(outs["heatmap"])
        score, size, offset = self.decode(outs["heatmap"], outs["size"], outs["offset"])
        return score, size.abs(), offset


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(44)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
