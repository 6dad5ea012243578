"""paddle.take_along_axis of a dim that varies and a 1."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import sizes_of


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.take_along_axis(x, self.at, 1)


def _of_one(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.take_along_axis(self.table, (x > 0).astype("int64"), -1)


def _at() -> Value:
    import paddle

    return paddle.to_tensor([[2, 0, 1]])


def _table() -> Value:
    import paddle

    return paddle.rand([1, 3])


class TakeAlongAxis(Fix):
    """Stock broadcasts to the larger of two sizes, and of -1 and 1 that is 1."""

    apis = ("paddle.take_along_axis",)
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_forward, (("n", 4),), {"at": _at}),
        Example(_of_one, (("n", 4),), {"table": _table}),
    )

    def instead(
        self, stock: Value, arr: Value, indices: Value, axis: int, broadcast: bool = True, **others: Value
    ) -> Value:
        if broadcast and len(arr.shape) == len(indices.shape):
            arr, indices = _widened(arr, indices, axis), _widened(indices, arr, axis)
        return stock(arr, indices, axis, broadcast, **others)


def _widened(x: Value, other: Value, axis: int) -> Value:
    """`x`, with the size of the other tensor where `x` has a 1 and the other's dim varies."""
    import paddle

    axis, pairs = axis % len(x.shape), list(zip(x.shape, other.shape, strict=True))
    grows = [at != axis and pair == (1, -1) for at, pair in enumerate(pairs)]
    if not any(grows):
        return x
    sizes = zip(grows, x.shape, sizes_of(other), strict=True)
    return paddle.broadcast_to(x, [size if grow else own for grow, own, size in sizes])


plugin: Fix = TakeAlongAxis()
