"""paddle.strided_slice between places that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import computed
from exporter.paddle.values import is_variable


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.strided_slice(x, [1], [0], [x.shape[1]], [2])


class StridedSlice(Fix):
    """Stock asks for int32, and a shape is int64."""

    apis = ("paddle.strided_slice",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", "w"),)),)

    def instead(  # noqa: PLR0913 - the signature of paddle.strided_slice
        self, stock: Value, x: Value, axes: Value, starts: Value, ends: Value, strides: Value, name: Value = None
    ) -> Value:
        places = ([*map(_as_int32, sizes)] if computed(sizes) else sizes for sizes in (starts, ends, strides))
        return stock(x, axes, *places)


def _as_int32(size: Value) -> Value:
    return size.astype("int32") if is_variable(size) else size


plugin: Fix = StridedSlice()
