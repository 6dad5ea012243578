import numpy as np
import paddle.nn as nn


ACTS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.Silu, "none": nn.Identity}
NORMS = {"ln": lambda c: nn.LayerNorm(c), "bn": lambda c: nn.BatchNorm1D(c)}


class Net(nn.Layer):
    def __init__(self, spec="ln-gelu-8,bn-silu-6,ln-none-4"):
        super().__init__()
        self.stages, width = nn.Sequential(), 8
        for i, part in enumerate(spec.split(",")):
            norm, act, out = part.split("-")
            block = nn.Sequential(nn.Linear(width, int(out)), NORMS[norm](int(out)), ACTS[act]())
            self.stages.add_sublayer(f"stage{i}", block)
            width = int(out)

    def forward(self, x):
        return self.stages(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(58)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
