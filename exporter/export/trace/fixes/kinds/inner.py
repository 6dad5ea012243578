"""paddle.inner with dims that vary."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import sizes_of


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.inner(x, x)


class Inner(Fix):
    """Stock reshapes by the sizes of both operands, in which each dim that varies is -1."""

    apis = ("paddle.inner",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 2, 4),)),)

    def instead(self, stock: Value, x: Value, y: Value, name: Value = None) -> Value:
        import paddle

        if not x.shape or not y.shape:
            return stock(x, y)
        flat = [paddle.reshape(operand, [-1, operand.shape[-1]]) for operand in (x, y)]
        return paddle.reshape(paddle.matmul(*flat, transpose_y=True), [*sizes_of(x)[:-1], *sizes_of(y)[:-1]])


plugin: Fix = Inner()
