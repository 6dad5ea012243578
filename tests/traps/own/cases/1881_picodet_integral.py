import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Integral(nn.Layer):
    def __init__(self, reg_max=3):
        super().__init__()
        self.reg_max = reg_max
        self.register_buffer("project", paddle.linspace(0, reg_max, reg_max + 1))

    def forward(self, x):
        x = F.softmax(x.reshape([-1, self.reg_max + 1]), axis=1)
        return F.linear(x, self.project).reshape([-1, 4]) if x.ndim == 1 else (x @ self.project).reshape([-1, 4])


class Net(nn.Layer):
    def __init__(self, strides=(4, 8)):
        super().__init__()
        self.strides = strides
        self.backbone = nn.LayerList([nn.Conv2D(3, 4, s, s) for s in strides])
        self.cls = nn.LayerList([nn.Conv2D(4, 2, 1) for _ in strides])
        self.reg = nn.LayerList([nn.Conv2D(4, 16, 1) for _ in strides])
        self.integral = Integral()
        self.cell_offset = 0.5

    def grid(self, h, w, stride):
        ys = (paddle.arange(h, dtype="float32") + self.cell_offset) * stride
        xs = (paddle.arange(w, dtype="float32") + self.cell_offset) * stride
        yy, xx = paddle.meshgrid(ys, xs)
        return paddle.stack([xx.flatten(), yy.flatten()], axis=-1)

    def forward(self, x):
        scores, boxes = [], []
        for i, stride in enumerate(self.strides):
            f = F.hardswish(self.backbone[i](x))
            b, _, h, w = f.shape
            centre = self.grid(h, w, stride)
            score = F.sigmoid(self.cls[i](f)).reshape([-1, 2, h * w]).transpose([0, 2, 1])
            dist = self.integral(self.reg[i](f).transpose([0, 2, 3, 1])).reshape([-1, h * w, 4]) * stride
            boxes.append(paddle.concat([centre - dist[..., :2], centre + dist[..., 2:]], axis=-1))
            scores.append(score)
        return paddle.concat(boxes, axis=1), paddle.concat(scores, axis=1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(38)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
