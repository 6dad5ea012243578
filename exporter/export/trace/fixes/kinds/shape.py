"""paddle.shape in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.shape(x)


class Shape(Fix):
    """The legacy operator gives int32, eager mode int64."""

    apis = ("paddle.shape",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, input: Value) -> Value:
        return stock(input).astype("int64")


plugin: Fix = Shape()
