"""A model whose outputs any engine must give exactly: whole numbers, so small that no order of adding rounds.

Its inputs and outputs are not in the order of the alphabet, and `forward` takes them in another order than the spec.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import paddle
from paddle import nn

Array = npt.NDArray[np.generic]


class Exact(nn.Layer):
    """Sums of rows, the difference of two inputs, twice an integer, and an input cut up and put together again."""

    def __init__(self) -> None:
        super().__init__()
        ones = nn.initializer.Constant(1.0)
        self.add = nn.Linear(3, 1, weight_attr=paddle.ParamAttr(initializer=ones))

    def forward(self, right: paddle.Tensor, left: paddle.Tensor, flags: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return self.add(left), left - right, flags + flags, paddle.concat([left[:, :1], left[:, 1:]], axis=1)


def build() -> nn.Layer:
    return Exact()


def draw(batch: int, rows: int, seed: int = 0) -> dict[str, Array]:
    """Inputs for `batch` and `rows`."""
    generator = np.random.default_rng(seed)
    left, right = (generator.integers(-8, 9, (batch, 3)).astype("float32") for _ in range(2))
    return {"left": left, "right": right, "flags": generator.integers(-8, 9, (rows, 2))}


def expected(inputs: dict[str, Array]) -> dict[str, Array]:
    """What must come out, by numpy."""
    left, right, flags = inputs["left"], inputs["right"], inputs["flags"]
    return {
        "sums": left.sum(axis=1, keepdims=True, dtype="float32"),
        "less": left - right,
        "double": flags + flags,
        "same": left,
    }
