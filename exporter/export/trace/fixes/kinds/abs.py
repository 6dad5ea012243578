"""`abs(x)` in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    return abs(x)


class Abs(Fix):
    """Stock reads a name that is never bound (`base/layers/math_op_patch.py`)."""

    apis = ("paddle.Tensor.__abs__",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import Variable

        patches.attribute(Variable, "__abs__", method(lambda self: paddle.abs(self)))


plugin: Fix = Abs()
