"""`x / 0` in a legacy program."""

from __future__ import annotations

import math

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    return x / 0


class Divide(Fix):
    """Stock computes 1.0 / other in Python, which raises; eager divides by zero."""

    apis = ("paddle.Tensor.__truediv__", "paddle.Tensor.__div__")
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import Variable

        stock = vars(Variable)["__truediv__"]

        def divide(self: Value, other: Value) -> Value:
            if type(other) not in (int, float) or other != 0:
                return stock(self, other)
            x = self if paddle.is_floating_point(self) or paddle.is_complex(self) else self.astype("float32")
            return paddle.scale(x, math.copysign(math.inf, other))

        for name in ("__truediv__", "__div__"):
            patches.attribute(Variable, name, method(divide))


plugin: Fix = Divide()
