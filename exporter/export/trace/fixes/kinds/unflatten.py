"""paddle.unflatten with a dim that varies."""

from __future__ import annotations

import math

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import known, sizes_of


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.unflatten(x, 1, [2, -1])


class Unflatten(Fix):
    """A size that is dynamic and one that is left to be found are both -1 in stock."""

    apis = ("paddle.unflatten",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, axis: Value, shape: Value, name: Value = None) -> Value:
        import paddle

        if not isinstance(shape, (list, tuple)) or not isinstance(axis, int):
            return stock(x, axis, shape)
        axis, wanted = axis % len(x.shape), list(shape)
        if x.shape[axis] >= 0 and known([size for size in wanted if size != -1]):
            whole = math.prod(size for size in wanted if size != -1)
            wanted = [x.shape[axis] // whole if size == -1 else size for size in wanted]
        return paddle.reshape(x, [*sizes_of(x)[:axis], *wanted, *sizes_of(x)[axis + 1 :]])


plugin: Fix = Unflatten()
