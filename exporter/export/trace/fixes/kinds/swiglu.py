"""F.swiglu in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.incubate.nn.functional.swiglu(x)  # where Paddle before 3.3 has it alone


class SwiGlu(Fix):
    """Stock has no legacy branch and gives None (`nn/functional/activation.py`)."""

    apis = ("paddle.nn.functional.swiglu", "paddle.incubate.nn.functional.swiglu")
    formats = ("pdmodel",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, y: Value = None, name: Value = None) -> Value:
        """silu(x) * y; without y the halves of x along its last axis."""
        import paddle

        if y is None:
            x, y = paddle.chunk(x, 2, axis=-1)
        return paddle.nn.functional.silu(x) * y


plugin: Fix = SwiGlu()
