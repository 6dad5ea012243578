import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)

    def stage(self, x):
        y = self.fc(x)
        return {"tmp": y * 2.0, "logits": y, "aux": 3}

    def forward(self, x):
        out = self.stage(x)
        aux = out.pop("aux")
        tmp = out.pop("tmp")
        out["probs"] = F.softmax(tmp / aux)
        return out


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(7)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
