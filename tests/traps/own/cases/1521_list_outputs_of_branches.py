import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, strides=(1, 2)):
        super().__init__()
        self.strides = strides
        self.towers = nn.LayerList([nn.Conv2D(3, 4, 3, s, 1) for s in strides])
        self.cls, self.reg = nn.Conv2D(4, 2, 1), nn.Conv2D(4, 4, 1)

    def forward(self, x):
        cls, reg, shapes = [], [], []
        for tower, stride in zip(self.towers, self.strides):
            f = F.relu(tower(x))
            _, _, h, w = f.shape
            l = h * w
            cls.append(F.sigmoid(self.cls(f)).reshape([-1, 2, l]))
            reg.append((self.reg(f) * stride).reshape([-1, 4, l]))
            shapes.append((h, w))
        anchors = sum(h * w for h, w in shapes)
        scores = paddle.concat(cls, axis=-1)
        assert scores.shape[-1] == anchors
        return scores, paddle.concat(reg, axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 8, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(66)
    return [
        ((rng.standard_normal((n, 3, 8, 8)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
