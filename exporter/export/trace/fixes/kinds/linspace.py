"""paddle.linspace of a number of steps that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.values import is_variable


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return x + paddle.linspace(0, 1, x.shape[1])


class Linspace(Fix):
    """Stock asks for an int32, and a shape is int64."""

    apis = ("paddle.linspace",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", "w"),)),)

    def instead(self, stock: Value, start: Value, stop: Value, num: Value, *args: Value, **kwargs: Value) -> Value:
        return stock(start, stop, num.astype("int32") if is_variable(num) else num, *args, **kwargs)


plugin: Fix = Linspace()
