"""Another shape with the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.steps.kinds.reshape import Reshape

if TYPE_CHECKING:
    import paddle


class FoldedReshape(Operator[Reshape]):
    """Of each row; the batch stays what it is, so a size of -1 is worked out here."""

    def run(self, step: Reshape, value: paddle.Tensor) -> paddle.Tensor:
        import math

        shape = list(step.shape)
        known = [int(size) for size in value.shape[1:]]
        if -1 in shape and min(known, default=0) >= 0:
            rest = math.prod(size for size in shape if size != -1)
            shape[shape.index(-1)] = math.prod(known) // max(rest, 1)
        if -1 not in shape:
            return value.reshape([-1, *shape])
        return value.reshape([0, *shape])


plugin: Operator[Reshape] = FoldedReshape()
