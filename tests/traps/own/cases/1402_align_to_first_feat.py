import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2D(3, 6, 3, padding=1)
        self.b = nn.Conv2D(6, 6, 3, stride=2, padding=1)
        self.head = nn.Conv2D(12, 2, 1)
        self.align_corners = False

    def forward(self, x):
        hi = F.relu(self.a(x))
        lo = F.relu(self.b(hi))
        lo = F.interpolate(lo, size=paddle.shape(hi)[2:], mode="bilinear", align_corners=self.align_corners)
        logit = self.head(paddle.concat([hi, lo], axis=1))
        logit_list = [logit]
        return [
            F.interpolate(one, paddle.shape(x)[2:], mode="bilinear", align_corners=self.align_corners)
            for one in logit_list
        ]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, None, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(44)
    return [
        ((rng.standard_normal((n, 3, h, w)) + s).astype("float32"),)
        for n, h, w, s in ((2, 16, 24, 0.0), (1, 24, 16, 1.5), (3, 32, 32, -1.5), (5, 20, 28, 0.5))
    ]
