"""paddle.signbit, and isneginf and isposinf, which ask it, with a dynamic batch."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.signbit(x)


class SignBit(Fix):
    """Stock makes a list of as many ones as there are elements, which is none where a size is -1."""

    apis = ("paddle.signbit",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, name: Value = None) -> Value:
        import paddle

        if not paddle.is_floating_point(x):
            return x < 0
        return paddle.copysign(paddle.ones_like(x), x) < 0


plugin: Fix = SignBit()
