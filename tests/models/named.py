"""Networks that name their parameters, as those of PaddleClas do (its Res2Net: `ParamAttr(name="conv1_weights")`)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F
from paddle import ParamAttr, nn


class Conv(nn.Layer):
    def __init__(self, a: int, b: int, size: int, name: str, act: str | None = None) -> None:
        super().__init__()
        weights = ParamAttr(name=f"{name}_weights")
        self.conv = nn.Conv2D(a, b, size, padding=size // 2, weight_attr=weights, bias_attr=False)
        self.norm = nn.BatchNorm(
            b,
            act=act,
            param_attr=ParamAttr(name=f"bn_{name}_scale"),
            bias_attr=ParamAttr(f"bn_{name}_offset"),
            moving_mean_name=f"bn_{name}_mean",
            moving_variance_name=f"bn_{name}_variance",
        )

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.norm(self.conv(x))


class Res2Net(nn.Layer):
    """A stem, one block whose channels are split in four and added on, and a linear layer: [n, 1, 8, 8] to [n, 10]."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.stem = Conv(1, width, 3, "conv1", "relu")
        self.wide = Conv(width, 2 * width, 1, "res2a_branch2a", "relu")
        parts = [Conv(width // 2, width // 2, 3, f"res2a_branch2b_{number}", "relu") for number in (1, 2, 3)]
        self.parts = nn.LayerList(parts)
        self.out, self.short = (Conv(n, 2 * width, 1, f"res2a_{n}") for n in (2 * width, width))
        self.fc = nn.Linear(2 * width, 10, ParamAttr(name="fc_weights"), ParamAttr(name="fc_offset"))

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        x = self.stem(image)
        first, *others = paddle.split(self.wide(x), 4, 1)
        done = [first]
        for part, given in zip(self.parts, others, strict=True):
            done.append(part(given + done[-1]))
        x = F.relu(self.out(paddle.concat(done, 1)) + self.short(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Tied(nn.Layer):
    """Two sublayers of one Parameter, and a layer made when the module is imported, which draws its weights then."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, ParamAttr(name="tied"))
        self.second, self.made_on_import = nn.Linear(4, 4), ON_IMPORT
        self.second.weight = self.first.weight

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(F.tanh(self.first(self.made_on_import(x))))


class OneNameTwice(nn.Layer):
    """Paddle refuses the name only while it is given; a later write goes unseen."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight.name = self.first.weight.name

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(self.first(x))


ON_IMPORT = nn.Linear(4, 4)
