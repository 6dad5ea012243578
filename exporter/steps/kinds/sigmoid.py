"""Each score as a probability of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Sigmoid(Step):
    """`1 / (1 + exp(-x))` of each number, in float32."""

    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "float64")

    def run(self, value: Array) -> Array:
        import numpy as np

        return np.asarray(0.5 * (1 + np.tanh(0.5 * value.astype("float32"))), dtype="float32")


plugin: type[Step] = Sigmoid
