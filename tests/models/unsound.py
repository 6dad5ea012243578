"""Models that eager runs happily, and of which an exporter must say why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
from models.sound import Mlp
from paddle import nn


class Vacuous(Mlp):
    """Beside one sound output three that prove nothing: all zero, the same for every input, near the denormals."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        y = super().forward(x)
        return y, nn.functional.relu(y) * 0.0, nn.functional.relu(y) * 0.0 + 1.5, y * 1e-38


class Noisy(Mlp):
    """Dropout that stays alive in evaluation."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.dropout(super().forward(x), 0.5, training=True)


class Twice(Mlp):
    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        y = super().forward(x)
        return y, y


class WithNone(Mlp):
    def forward(self, x: paddle.Tensor) -> tuple[Any, ...]:
        return super().forward(x), None


class WithNumber(Mlp):
    def forward(self, x: paddle.Tensor) -> tuple[Any, ...]:
        return super().forward(x), 3


class Unused(Mlp):
    def forward(self, x: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x)


class Raising(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        raise KeyError("no such head")


class Parameterless(nn.Layer):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.relu(x)


class Baked(Mlp):
    """The batch size is read as a number, so the program knows one size only."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        rows = len(np.zeros(1)) if x.shape[0] < 0 else int(x.shape[0])
        return super().forward(x) * rows


class Divides(nn.Layer):
    """By what may be zero: eager raises EnforceNotMet, which is nothing but an Exception."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return 12 // x.astype("int64")


class OfItsOwn(Exception):
    """A user's exception."""


class Raises(nn.Layer):
    """Refuses every input, in its own way."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        raise OfItsOwn("the sensor is off")


def poisoned() -> nn.Layer:
    layer = Mlp()
    value = layer.last.bias.numpy()
    value[1] = np.nan
    layer.last.bias.set_value(value)
    return layer


def drawn_from_the_clock() -> nn.Layer:
    """Other weights in each process, whatever was seeded."""
    layer = Mlp()
    layer.last.bias.set_value(np.random.default_rng().standard_normal(3).astype("float32"))
    return layer


def needs_argument(width: int) -> nn.Layer:
    return nn.Linear(width, width)


def raising() -> nn.Layer:
    raise RuntimeError("the factory cannot do it")


def not_a_layer() -> dict[str, int]:
    return {"layers": 2}


NOT_CALLABLE = 3
