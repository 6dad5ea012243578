"""paddle.vision.ops.psroi_pool in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.programs import append


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    boxes = paddle.abs(x[:, :4, 0, 0]).cumsum(1)
    return paddle.vision.ops.psroi_pool(x, boxes, paddle.ones_like(boxes[:, 0]).astype("int32"), 2)


class PsRoiPool(Fix):
    """Stock's legacy branch forgets `boxes_num`, and the kernel then reads memory that is not there."""

    apis = ("paddle.vision.ops.psroi_pool",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 8, 6, 6),)),)

    def instead(  # noqa: PLR0913 - the signature of paddle.vision.ops.psroi_pool
        self,
        stock: Value,
        x: Value,
        boxes: Value,
        boxes_num: Value,
        output_size: Value,
        spatial_scale: float = 1.0,
        name: str | None = None,
    ) -> Value:
        height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
        attributes = {
            "output_channels": x.shape[1] // (height * width),
            "spatial_scale": spatial_scale,
            "pooled_height": height,
            "pooled_width": width,
        }
        return append("psroi_pool", {"X": [x], "ROIs": [boxes], "RoisNum": [boxes_num]}, attributes, x.dtype)


plugin: Fix = PsRoiPool()
