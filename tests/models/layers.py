"""Layers of the kinds that Paddle's own `jit.save` writes rightly, and that were refused or failed here."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.autograd import PyLayer


class Returned(nn.Layer):
    """Gives buffers and parameters as they are beside what it computes, as detectors give their anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.register_buffer("grid", paddle.arange(6, dtype="float32").reshape([2, 3]))
        self.register_buffer("ids", paddle.arange(5))
        self.register_buffer("temporary", paddle.full([3], 0.5), persistable=False)

    def forward(self, x: paddle.Tensor) -> dict[str, paddle.Tensor]:
        y = self.fc(x) + self.grid[0]
        return {
            "grid": self.grid,
            "y": y,
            "ids": self.ids,
            "weight": self.fc.weight,
            "temporary": self.temporary,
            "scaled": self.grid * 2.0,
        }


class Unread(nn.Layer):
    """Has weights that its forward does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * 2.0 + 1.0


class Saved(PyLayer):  # type: ignore[misc]  # Paddle has no types
    """Keeps its result for the gradient, and takes an argument by name."""

    @staticmethod
    def forward(ctx: Any, x: paddle.Tensor, *, by: float = 2.0) -> paddle.Tensor:
        y = paddle.tanh(x) * by
        ctx.save_for_backward(y)
        ctx.by = by
        return y

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> paddle.Tensor:
        return gradient * ctx.by


class Through(PyLayer):  # type: ignore[misc]  # Paddle has no types
    """Calls a layer that it is given; the gradient alone is another."""

    @staticmethod
    def forward(ctx: Any, x: paddle.Tensor, layer: nn.Layer) -> paddle.Tensor:
        if x.mean() > 0:
            return layer(x)
        return layer(-x)

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> paddle.Tensor:
        return -gradient


#: As libraries of losses and activations have it.
saved = Saved.apply


class OfPyLayers(nn.Layer):
    """Applies PyLayers: by their class, by a function that was kept, and in a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = Through.apply(x, self.fc)
        if y.mean() > 0:
            y = Saved.apply(y, by=0.5)
        else:
            y = saved(y)
        return y


class Compared(nn.Layer):
    """Sorts a size beside one of its range: PIR cannot trace it, and a legacy program has numbers there."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        sizes = [sum(sorted(pair)) - 2 for pair in zip(x.shape, (2, 2), strict=True)]
        return paddle.where(x.broadcast_to(sizes) > 0, x, x * 0.5)


class Dtypes(nn.Layer):
    """Gives what PIR declares with another dtype than the kernels have."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        whole = (x * 2.0).astype("int64")
        values, inverse, counts = paddle.unique(whole, return_inverse=True, return_counts=True)
        return values * 2, inverse, counts, (whole // 2).clip(0, 1).any(-1), paddle.exp(whole.clip(-3, 3)) * 0.5


class ByName(nn.Layer):
    """Takes an input by name alone, and leaves out one before another."""

    def forward(
        self, x: paddle.Tensor, mask: paddle.Tensor | None = None, bias: float = 1.0, *, gain: paddle.Tensor
    ) -> paddle.Tensor:
        y = x * gain + bias
        return y if mask is None else y * mask
