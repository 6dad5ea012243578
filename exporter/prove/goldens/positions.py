"""Interpolation in float64 whose positions are float64, too.

Paddle's kernels compute in float32 between which elements a value lies, whatever the dtype of the values is (`float
ratio_h` in phi/kernels/cpu/interpolate_kernel.cc, 3.3.1). Unseen, that is a float32 inside a float64 run: no kernel is
counted for it, and positions do not depend on the values, so that no difference shows it. Then eager would be as true
as its own rounding, and who computes the same positions by another formula wrong by a hundred times eager's error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from exporter.base.tensors import Array

_KINDS = ("linear_interp", "bilinear_interp", "trilinear_interp", "bicubic_interp")
#: The coefficient of Paddle's cubic convolution.
_A = -0.75


@contextlib.contextmanager
def exact_positions() -> Iterator[None]:
    """Within it, eager interpolation of float64 is that of exact positions; by the nearest element it chooses alike."""
    from exporter.paddle.private import c_ops

    saved = {kind: getattr(c_ops, kind) for kind in _KINDS}
    for kind, stock in saved.items():
        setattr(c_ops, kind, partial(_interpolated, stock, kind == "bicubic_interp"))
    try:
        yield
    finally:
        for kind, stock in saved.items():
            setattr(c_ops, kind, stock)


def _interpolated(  # noqa: PLR0913 - the operands and attributes of Paddle's operator
    stock: Callable[..., Any],
    cubic: bool,
    x: Any,
    size: Any,
    sizes: Any,
    scale: Any,
    layout: str,
    depth: int,
    height: int,
    width: int,
    scales: Sequence[float],
    method: str,
    corners: bool,
    mode: int,
) -> Any:
    found = stock(x, size, sizes, scale, layout, depth, height, width, scales, method, corners, mode)
    if str(x.dtype) != "paddle.float64":
        return found
    axes = range(2, len(x.shape)) if layout == "NCHW" else range(1, len(x.shape) - 1)  # so Paddle calls all layouts
    told = list(scales) or [0.0] * len(axes)  # eager makes numbers of tensors before
    for axis, factor in zip(axes, told, strict=True):
        places = _places(x.shape[axis], found.shape[axis], factor, corners=corners, centred=cubic or mode == 0)
        x = (_cubic if cubic else _linear)(x, axis, places)
    return x


def _places(before: int, after: int, factor: float, *, corners: bool, centred: bool) -> Array:
    """Where each element of the result lies among those before; of one alone at the first, as in the kernels."""
    ratio = 0.0
    if after > 1:
        ratio = (before - 1) / (after - 1) if corners else 1 / factor if factor > 0 else before / after
    steps: Array = np.arange(after)
    return ratio * steps if corners or not centred else ratio * (steps + 0.5) - 0.5


def _linear(x: Any, axis: int, places: Array) -> Any:
    low = np.floor(places)
    share = places - low
    return _summed(x, axis, [(low, 1 - share), (low + 1, share)])


def _cubic(x: Any, axis: int, places: Array) -> Any:
    """Keys' cubic convolution, "Cubic Convolution Interpolation for Digital Image Processing", 1981."""
    low = np.floor(places)
    share = places - low

    def near(distance: Array) -> Any:
        return ((_A + 2) * distance - (_A + 3)) * distance**2 + 1

    def far(distance: Array) -> Any:
        return ((distance - 5) * distance + 8) * distance * _A - 4 * _A

    weights = (far(share + 1), near(share), near(1 - share), far(2 - share))
    return _summed(x, axis, [(low - 1 + at, weight) for at, weight in enumerate(weights)])


def _summed(x: Any, axis: int, parts: Sequence[tuple[Array, Array]]) -> Any:
    """Elements along an axis, each times its weight; beyond the ends the last one counts."""
    import paddle

    total = None
    for places, weight in parts:
        index = np.clip(places, 0, x.shape[axis] - 1).astype("int64")
        beside = [len(weight) if at == axis else 1 for at in range(len(x.shape))]
        chosen = paddle.index_select(x, paddle.to_tensor(index), axis) * paddle.to_tensor(weight.reshape(beside))
        total = chosen if total is None else total + chosen
    return total
