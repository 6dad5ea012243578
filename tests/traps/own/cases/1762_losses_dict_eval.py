import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, label):
        y = self.fc(x)
        mse, mae = F.mse_loss(y, label), F.l1_loss(y, label)
        return {"total": mse + mae, "mse": mse, "mae": mae}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 4], "dtype": "float32"},
    {"name": "label", "shape": [None, 4], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(16)
    return [
        (
            (rng.standard_normal((n, 4)) + s).astype("float32"),
            (rng.standard_normal((n, 4)) + s).astype("float32"),
        )
        for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
