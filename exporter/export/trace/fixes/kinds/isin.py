"""paddle.isin with a dynamic batch."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.isin(paddle.floor(x), paddle.to_tensor([0.0, 1.0]))


class IsIn(Fix):
    """Stock takes the logarithm of the number of elements, which is negative, to choose its way."""

    apis = ("paddle.isin",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(
        self,
        stock: Value,
        x: Value,
        test_x: Value,
        assume_unique: Value = False,
        invert: bool = False,
        name: Value = None,
    ) -> Value:
        import paddle

        found = paddle.any(paddle.equal(paddle.unsqueeze(x, -1), paddle.reshape(test_x, [-1])), axis=-1)
        return paddle.logical_not(found) if invert else found


plugin: Fix = IsIn()
