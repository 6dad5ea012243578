"""Scaling to the numbers that a net was trained with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.export.fold.constants import floats
from exporter.steps.kinds.normalize import Normalize

if TYPE_CHECKING:
    import paddle


class FoldedNormalize(Operator[Normalize]):
    """The same three operations in the same order, in float32; what changes nothing is left out."""

    def run(self, step: Normalize, value: paddle.Tensor) -> paddle.Tensor:
        import numpy as np

        shape = [1, -1, *[1] * (value.ndim - 2)] if step.axis == "first" else [1] * (value.ndim - 1) + [-1]
        mean, std = (np.asarray(numbers, "float32").reshape(shape) for numbers in (step.mean, step.std))
        result = value.astype("float32")
        if step.scale != 1.0:
            result = result * floats(np.full([1] * value.ndim, step.scale))
        if mean.any():
            result = result - floats(mean)
        return result if (std == 1).all() else result / floats(std)


plugin: Operator[Normalize] = FoldedNormalize()
