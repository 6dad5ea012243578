"""paddle.nanmedian, whose legacy operator loses its second output when the program is saved, and then crashes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from exporter.paddle.refusal import cannot_lower


def nanmedian(
    stock: Any, x: Any, axis: int | Sequence[int] | None = None, keepdim: bool = False, mode: str = "avg", **_: Any
) -> Any:
    """The middle of the elements that are numbers; "min": the lower of two; NaN where there is none."""
    import paddle

    if mode != "avg":
        raise cannot_lower(
            "paddle.nanmedian", f"mode={mode!r} has no legacy form", "use mode='avg', or export as `pir`"
        )
    rank = len(x.shape)
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(one % rank for one in axes)
    rest = [one for one in range(rank) if one not in axes]
    last = paddle.transpose(x, [*rest, *axes])
    last = paddle.flatten(last, len(rest)) if len(axes) > 1 else last
    number = ~paddle.isnan(last)
    count = paddle.sum(number.astype("int64"), axis=-1, keepdim=True)
    ordered = paddle.sort(paddle.where(number, last, paddle.full_like(last, math.inf)), axis=-1)
    zero = paddle.zeros_like(count)
    lower = paddle.take_along_axis(ordered, paddle.maximum((count - 1) // 2, zero), -1, broadcast=False)
    upper = paddle.take_along_axis(ordered, paddle.where(count > 0, count // 2, zero), -1, broadcast=False)
    value = paddle.where(count > 0, (lower + upper) / 2.0, paddle.full_like(lower, math.nan))
    value = paddle.squeeze(value, -1)
    return paddle.unsqueeze(value, axes) if keepdim else value
