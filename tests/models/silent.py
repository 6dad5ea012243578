"""Models that stock Paddle exports without a word, and wrong (3.3.1): each gives other numbers than eager."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import paddle
from models.sound import Mlp
from paddle import nn

from exporter.engines.paddle import threads_now

SCALE = {"now": 1.0}


class NumpyNoise(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) + float(np.random.rand())


class PythonNoise(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) * random.uniform(0.5, 2.0)


class Clock(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) + time.time() % 60


class GlobalState(Mlp):
    """A module's dict that each call changes."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        SCALE["now"] = SCALE["now"] * 1.5
        return super().forward(x) * SCALE["now"]


class CountingBuffer(Mlp):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", paddle.zeros([1]))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        self.count = self.count + 1
        return super().forward(x) * self.count


class GuardedByAnd(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        seen: list[paddle.Tensor] = []
        (x.sum() > 0) and seen.append(x)
        return super().forward(x) * (1.0 + len(seen))


class GuardedByOr(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        seen: list[paddle.Tensor] = []
        (x.sum() > 0) or seen.append(x)
        return super().forward(x) * (1.0 + len(seen))


class AnswersNone(Mlp):
    def forward(self, x: paddle.Tensor) -> tuple[Any, ...]:
        return super().forward(x), None


class AnswersANumber(Mlp):
    def forward(self, x: paddle.Tensor) -> tuple[Any, ...]:
        return super().forward(x), 7


class AsksForTensor(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        return y * 2 if isinstance(x, paddle.Tensor) else y


class AsksForDynamicMode(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        return y * 2 if paddle.in_dynamic_mode() else y


class AsksForGradient(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        return y * 2 if x.stop_gradient else y


@paddle.jit.not_to_static
def rows_of(x: paddle.Tensor) -> int:
    return x.shape[0]


class BatchAsANumber(Mlp):
    """The number of rows is known to Python, and -1 while a program is traced, where nothing converts the call."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) * float(rows_of(x))


class SizesInASet(Mlp):
    """Two equal sizes are one element of a set, and two while a program is traced."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) * float(len({37, x.shape[0]}))


class KnowsItsThreads(Mlp):
    """Right in one thread, and twice as much in two."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x) * float(threads_now())


class Named(Mlp):
    def forward(self, x: paddle.Tensor) -> dict[str, paddle.Tensor]:
        y = super().forward(x)
        return {"zebra": y, "apple": nn.functional.softmax(y, -1)}


class _Wide(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 200_000)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.softmax(0.1 * self.head(x), -1)


class _Rows(Mlp):
    """A mean over each row by way of a reshape that a fixed batch turns into numbers."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        return y - paddle.mean(y.reshape([x.shape[0], -1]), -1, keepdim=True) * 0.5


def wide() -> nn.Layer:
    return _Wide()


def rows() -> nn.Layer:
    return _Rows()
