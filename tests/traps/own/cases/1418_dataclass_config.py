import numpy as np
import paddle
import paddle.nn as nn


from dataclasses import dataclass, field


@dataclass(frozen=True)
class Config:
    width: int = 8
    layers: int = 2
    pre_norm: bool = True
    taps: tuple = field(default_factory=lambda: (0, 1))


class Net(nn.Layer):
    def __init__(self, config: Config = Config()):
        super().__init__()
        self.config = config
        self.norms = nn.LayerList([nn.LayerNorm(config.width) for _ in range(config.layers)])
        self.mlps = nn.LayerList([nn.Linear(config.width, config.width) for _ in range(config.layers)])

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        taps = []
        for i in range(self.config.layers):
            if self.config.pre_norm:
                x = x + self.mlps[i](self.norms[i](x))
            else:
                x = self.norms[i](x + self.mlps[i](x))
            if i in self.config.taps:
                taps.append(x * (i + 1))
        return tuple(taps)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(60)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
