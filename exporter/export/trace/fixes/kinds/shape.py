"""paddle.shape in a legacy program."""

from __future__ import annotations

from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.shape(x)


class Shape(Fix):
    """The legacy operator gives int32, eager mode int64."""

    apis = ("paddle.shape",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Any, input: Any) -> Any:
        return stock(input).astype("int64")


plugin: Fix = Shape()
