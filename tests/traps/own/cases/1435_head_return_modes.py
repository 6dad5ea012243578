import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, export=True):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.export = export

    def get_loss(self, y, gt):
        return {"loss": F.mse_loss(y, gt)}

    def get_pred(self, y):
        boxes, score = paddle.split(y, [4, 2], axis=-1)
        return {"bbox": F.relu(boxes), "score": F.softmax(score)}

    def forward(self, x, gt=None):
        y = self.fc(x)
        if self.training:
            return self.get_loss(y, gt)
        out = self.get_pred(y)
        if not self.export:
            out["raw"] = y.numpy()
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(77)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
