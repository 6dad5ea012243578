import numpy as np
import paddle.nn as nn


class Activation(nn.Layer):
    def __init__(self, act=None):
        super().__init__()
        names = {name.lower(): name for name in nn.layer.activation.__dict__ if name[:1].isupper()}
        self._act = act
        if act is not None:
            if act in names:
                self.act_func = getattr(nn, names[act])()
            else:
                raise KeyError(f"{act} does not exist in the current {list(names)}")

    def forward(self, x):
        if self._act is not None:
            return self.act_func(x)
        else:
            return x


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = Activation("leakyrelu")
        self.none = Activation()

    def forward(self, x):
        return self.none(self.act(self.fc(x)))


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(61)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
