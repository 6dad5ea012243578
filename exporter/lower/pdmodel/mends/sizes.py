"""Sizes that the program computes (`x.shape[0]` of a dynamic dim), where stock expects Python's numbers or int32."""

from __future__ import annotations

from typing import Any

from exporter.lower.pdmodel import composed
from exporter.paddle.patches import Patches
from exporter.paddle.values import is_variable, joined


def install(patches: Patches) -> None:
    """Stock writes such lists into attributes, or asks for int32 where a shape is int64 (3.0 to 3.3)."""
    import paddle

    functional = paddle.nn.functional
    patches.body(functional.affine_grid, _affine_grid)
    patches.body(functional.pad, _pad)
    patches.body(functional.sequence_mask, _sequence_mask)
    patches.body(paddle.linspace, _linspace)
    patches.body(paddle.strided_slice, _strided_slice)


def _affine_grid(stock: Any, theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    return stock(theta, joined(out_shape, "int32") if _computed(out_shape) else out_shape, align_corners)


def _pad(stock: Any, x: Any, pad: Any, *args: Any, **kwargs: Any) -> Any:
    return stock(x, joined(pad, "int32") if _computed(pad) else pad, *args, **kwargs)


def _sequence_mask(stock: Any, x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    return composed.sequence_mask(x, maxlen, dtype) if is_variable(maxlen) else stock(x, maxlen, dtype)


def _linspace(stock: Any, start: Any, stop: Any, num: Any, *args: Any, **kwargs: Any) -> Any:
    return stock(start, stop, num.astype("int32") if is_variable(num) else num, *args, **kwargs)


def _strided_slice(  # noqa: PLR0913 - the signature of paddle.strided_slice
    stock: Any,
    x: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    strides: Any,
    name: str | None = None,
) -> Any:
    return stock(x, axes, *([*map(_as_int32, one)] if _computed(one) else one for one in (starts, ends, strides)))


def _computed(sizes: Any) -> bool:
    return isinstance(sizes, (list, tuple)) and any(map(is_variable, sizes))


def _as_int32(size: Any) -> Any:
    return size.astype("int32") if is_variable(size) else size
