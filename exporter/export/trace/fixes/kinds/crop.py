"""paddle.crop to sizes that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import computed

#: Behind the last element of any axis.
_END = 2**31 - 1


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.crop(x, [x.shape[0], 2], [0, 1])


class Crop(Fix):
    """Stock puts int32 of one shape beside int64 of another, which no program may; a slice says the same."""

    apis = ("paddle.crop",)
    formats = ("pir",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, shape: Value = None, offsets: Value = None, name: Value = None) -> Value:
        import paddle

        if not (computed(shape) or computed(offsets)):
            return stock(x, shape, offsets)
        rank = len(x.shape)
        starts = list(offsets) if offsets is not None else [0] * rank
        sizes = list(shape) if shape is not None else [-1] * rank
        ends = [
            _END if isinstance(size, int) and size == -1 else start + size
            for start, size in zip(starts, sizes, strict=True)
        ]
        return paddle.slice(x, list(range(rank)), starts, ends)


plugin: Fix = Crop()
