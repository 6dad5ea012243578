import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    __inject__ = ["backbone"]

    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2D(3, 4, 4, 4)
        self.rpn, self.mask = nn.Conv2D(4, 2, 1), None
        self.with_mask = self.mask is not None

    def _forward(self):
        feats = self.backbone(self.inputs["image"])
        out = self.rpn(feats)
        if self.with_mask:
            out = out * self.mask(feats)
        return out

    def get_pred(self):
        return {"bbox": self._forward()}

    def forward(self, x):
        self.inputs = {"image": x}
        if self.training:
            return {"loss": self._forward().mean()}
        return self.get_pred()


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 3, 16, 16], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(17)
    return [
        ((rng.standard_normal((n, 3, 16, 16)) + s).astype("float32"),)
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
