import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 3)
        self.aux = nn.Linear(8, 3)

    def forward(self, x, label=None):
        feat = F.relu(self.body(x))
        logits = self.head(feat)
        if self.training:
            if label is None:
                raise ValueError("label is needed in training")
            return {"loss": F.cross_entropy(logits, label), "aux": self.aux(feat)}
        return {"logits": logits, "probs": F.softmax(logits, axis=-1)}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(45)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
