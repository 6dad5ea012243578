"""Functions that refuse a legacy program, or give another result there than eager."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from exporter.lower.pdmodel import composed
from exporter.lower.pdmodel.mends.batch_norm import batch_norm
from exporter.lower.pdmodel.mends.median import nanmedian
from exporter.paddle.programs import append
from exporter.paddle.values import is_variable


def replacements() -> list[tuple[Any, Any]]:
    """(function, what takes its place)."""
    import paddle

    from exporter.paddle.private import manipulation

    mended: dict[Any, Callable[..., Any]] = {
        paddle.shape: _shape,
        paddle.concat: _concat,
        paddle.nn.functional.batch_norm: batch_norm,
        paddle.nn.functional.rrelu: _rrelu,
        paddle.nn.functional.swiglu: _swiglu,
        paddle.incubate.nn.functional.swiglu: _swiglu,
        paddle.nanmedian: nanmedian,
        paddle.vision.ops.psroi_pool: _psroi_pool,
    }
    # Marked "dynamic graph only"; without the mark they call C++, and composed.py knows what is meant.
    for name in ("view", "view_as", "as_strided", "unfold", "fill_", "zero_"):
        mended[getattr(manipulation, name)] = _undecorated
    return [(function, _behind(function, how)) for function, how in mended.items()]


def _behind(function: Callable[..., Any], mended: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, but with a Variable among the arguments `mended(function, …)`."""

    def replacement(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if any(map(is_variable, [*given, *(one for each in given if isinstance(each, (list, tuple)) for one in each)])):
            return mended(function, *args, **kwargs)
        return function(*args, **kwargs)

    replacement.__name__ = replacement.__qualname__ = function.__name__
    replacement.__module__ = function.__module__
    return replacement


def _undecorated(stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return inspect.unwrap(stock)(*args, **kwargs)


def _concat(stock: Callable[..., Any], x: Any, axis: Any = 0, **more: Any) -> Any:
    """An axis that numpy computed is no int to a legacy program."""
    return stock(x, int(axis) if isinstance(axis, np.integer) else axis, **more)


def _shape(stock: Callable[..., Any], input: Any) -> Any:
    return stock(input).astype("int64")


def _rrelu(stock: Callable[..., Any], x: Any, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = True,
           name: str | None = None) -> Any:  # fmt: skip
    """The legacy operator's second output is not declared, so the file loads and then fails when it runs."""
    import paddle

    if training:
        return stock(x, lower, upper, training, name)
    return paddle.nn.functional.leaky_relu(x, (lower + upper) / 2.0)


def _swiglu(stock: Callable[..., Any], x: Any, y: Any = None, name: str | None = None) -> Any:
    """Stock has no legacy branch and gives None (`nn/functional/activation.py`, 3.3.1)."""
    return composed.swiglu(x, y)


def _psroi_pool(
    stock: Callable[..., Any],
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    **_: Any,
) -> Any:
    """Stock's legacy branch forgets `boxes_num`, and the kernel then reads memory that is not there."""
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    attributes = {
        "output_channels": x.shape[1] // (height * width),
        "spatial_scale": spatial_scale,
        "pooled_height": height,
        "pooled_width": width,
    }
    return append("psroi_pool", {"X": [x], "ROIs": [boxes], "RoisNum": [boxes_num]}, attributes, x.dtype)
