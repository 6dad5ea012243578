import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


from dataclasses import dataclass
from typing import Optional


@dataclass
class ModelOutput:
    logits: paddle.Tensor
    hidden: Optional[paddle.Tensor] = None

    def to_tuple(self):
        return tuple(v for v in (self.logits, self.hidden) if v is not None)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.cls = nn.Linear(8, 2)

    def forward(self, x, return_dict: bool = False):
        h = F.tanh(self.fc(x))
        out = ModelOutput(logits=self.cls(h), hidden=h)
        if return_dict:
            return out
        return out.to_tuple()


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(35)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
