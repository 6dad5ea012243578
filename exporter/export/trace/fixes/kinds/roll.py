"""paddle.roll by shifts that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import computed
from exporter.paddle.values import joined


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.roll(x, [x.shape[0] // 2], [0])


class Roll(Fix):
    """A legacy program takes one tensor of numbers, and no list with tensors in it."""

    apis = ("paddle.roll",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, shifts: Value, *args: Value, **kwargs: Value) -> Value:
        return stock(x, joined(shifts, "int64") if computed(shifts) else shifts, *args, **kwargs)


plugin: Fix = Roll()
