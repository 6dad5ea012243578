import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.adapters = nn.LayerDict({f"l{i}_w{w}": nn.Linear(8, w) for i, w in enumerate((4, 6))})
        self.tag = "l{}_w{}"

    def forward(self, x):
        outs = []
        for i, w in enumerate((4, 6)):
            key = self.tag.format(i, w)
            if key in self.adapters:
                outs.append(self.adapters[key](x))
        return paddle.concat(outs, axis=-1)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(56)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
