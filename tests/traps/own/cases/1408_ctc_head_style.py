import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class CTCHead(nn.Layer):
    def __init__(self, cin, cout, mid=None, return_feats=False):
        super().__init__()
        self.mid = mid
        if mid is None:
            self.fc = nn.Linear(cin, cout)
        else:
            self.fc1 = nn.Linear(cin, mid)
            self.fc2 = nn.Linear(mid, cout)
        self.return_feats = return_feats

    def forward(self, x, targets=None):
        if self.mid is None:
            predicts = self.fc(x)
        else:
            x = self.fc1(x)
            predicts = self.fc2(x)
        if self.return_feats:
            result = (x, predicts)
        else:
            result = predicts
        if not self.training:
            predicts = F.softmax(predicts, axis=2)
            result = predicts
        return result


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = CTCHead(6, 11, mid=8, return_feats=True)

    def forward(self, x):
        return self.head(x.transpose([0, 2, 1]))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6, None], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(50)
    return [
        ((rng.standard_normal((n, 6, t)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
