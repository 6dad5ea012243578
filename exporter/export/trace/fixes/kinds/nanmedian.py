"""paddle.nanmedian in a legacy program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.refusal import cannot_lower


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.nanmedian(x, axis=1)


class NanMedian(Fix):
    """The legacy operator loses its second output when the program is saved, and ends the process that runs it."""

    apis = ("paddle.nanmedian",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 5),)),)

    def instead(
        self,
        stock: Value,
        x: Value,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
        mode: str = "avg",
        name: str | None = None,
    ) -> Value:
        """The middle of the elements that are numbers, NaN where there is none."""
        import paddle

        if mode != "avg":
            raise cannot_lower(
                "paddle.nanmedian", f"mode={mode!r} has no legacy form", "use mode='avg', or export as `pir`"
            )
        rank = len(x.shape)
        axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = sorted(axis % rank for axis in axes)
        rest = [axis for axis in range(rank) if axis not in axes]
        last = paddle.transpose(x, [*rest, *axes])
        last = paddle.flatten(last, len(rest)) if len(axes) > 1 else last
        present = ~paddle.isnan(last)
        count = paddle.sum(present.astype("int64"), axis=-1, keepdim=True)
        ordered = paddle.sort(paddle.where(present, last, paddle.full_like(last, math.inf)), axis=-1)
        zero = paddle.zeros_like(count)
        lower = paddle.take_along_axis(ordered, paddle.maximum((count - 1) // 2, zero), -1, broadcast=False)
        upper = paddle.take_along_axis(ordered, paddle.where(count > 0, count // 2, zero), -1, broadcast=False)
        value = paddle.where(count > 0, (lower + upper) / 2.0, paddle.full_like(lower, math.nan))
        value = paddle.squeeze(value, -1)
        return paddle.unsqueeze(value, axes) if keepdim else value


plugin: Fix = NanMedian()
