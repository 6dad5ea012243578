"""Scores as probabilities that sum to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Softmax(Step):
    """Softmax along `axis`, in float32."""

    axes: ClassVar[Sequence[int]] = (1, 2, 3, 4)
    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "float64")

    axis: int = -1

    def run(self, value: Array) -> Array:
        import numpy as np

        power = np.exp(value.astype("float32") - value.max(self.axis, keepdims=True).astype("float32"))
        return np.asarray(power / power.sum(self.axis, keepdims=True))


plugin: type[Step] = Softmax
