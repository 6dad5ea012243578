"""F.pixel_unshuffle of a height or width that varies."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import known, sizes_of


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.pixel_unshuffle(x, 2)


def _channels_last(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.pixel_unshuffle(x, 2, "NHWC")


class PixelUnshuffle(Fix):
    """Stock demands that the factor divides each size, and -1 is none that it does."""

    apis = ("paddle.nn.functional.pixel_unshuffle",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, "h", 4),)), Example(_channels_last, (("n", 4, "w", 3),)))

    def instead(
        self, stock: Value, x: Value, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
    ) -> Value:
        """Channel `c * factor² + row * factor + column` holds what stands there in each block of channel `c`."""
        import paddle

        last, factor = data_format == "NHWC", downscale_factor
        sides = x.shape[1:3] if last else x.shape[2:]
        if len(x.shape) != 4 or known(sides) or not _divides(factor, sides) or data_format not in ("NCHW", "NHWC"):
            return stock(x, factor, data_format)
        batch, *sizes = sizes_of(x)
        height, width, channels = sizes if last else [*sizes[1:], sizes[0]]
        blocks = [height // factor, factor, width // factor, factor]
        split = paddle.reshape(x, [batch, *blocks, channels] if last else [batch, channels, *blocks])
        turned = paddle.transpose(split, [0, 1, 3, 5, 2, 4])
        whole, deep = [height // factor, width // factor], channels * factor**2
        return paddle.reshape(turned, [batch, *whole, deep] if last else [batch, deep, *whole])


def _divides(factor: Value, sides: Value) -> bool:
    """Whether no size that is known is refused by stock."""
    return isinstance(factor, int) and factor > 0 and not any(size % factor for size in sides if size >= 0)


plugin: Fix = PixelUnshuffle()
