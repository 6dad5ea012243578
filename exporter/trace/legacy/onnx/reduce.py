"""Reductions: a scalar has shape [1] in paddle2onnx, and small integers, bool and tensors of axes are not for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from exporter.trace.legacy.onnx.common import Compute, as_float, known, number
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite, dtype_name


def axes_of(call: Arguments, api: str, name: str = "axis") -> list[int]:
    """The axes of a reduction, counted from 0, in order; all of them for None and for an empty list."""
    rank, axis = len(call["x"].shape), known(call[name], api, name)
    if axis is None or call.get("reduce_all") or axis == []:
        return list(range(rank))
    flat = _flat(axis)
    return sorted({int(one) % max(rank, 1) for one in flat})


def _flat(axis: Any) -> list[Any]:
    return [leaf for one in axis for leaf in _flat(one)] if isinstance(axis, (list, tuple)) else [axis]


def _kept(name: str) -> Compute:
    """`name` over the same axes, keeping them, and a squeeze afterwards, which is the only way to a true scalar."""

    def rewrite(entry: Entry, call: Arguments) -> Any:
        import paddle

        x, axes = call["x"], axes_of(call, entry.__name__)
        plain = isinstance(call["axis"], (int, list, tuple)) and not _tensors(call["axis"])
        if entry.__name__ == name and plain and (call["keepdim"] or len(axes) < len(x.shape)):
            return None
        if not x.shape:
            return getattr(paddle, name)(x.reshape([1]), axis=0, keepdim=True).reshape([])
        kept = getattr(paddle, name)(x, axis=axes, keepdim=True)
        return kept if call["keepdim"] else paddle.squeeze(kept, axes)

    return rewrite


def _tensors(axis: Any) -> bool:
    return any(not isinstance(one, int) for one in _flat(axis))


def _truth(name: str) -> Compute:
    """All and any are the smallest and the largest of zeros and ones."""

    def rewrite(entry: Entry, call: Arguments) -> Any:
        import paddle

        x, axes = call["x"], axes_of(call, entry.__name__)
        ones = (x if x.dtype == paddle.bool else x != paddle.zeros([], x.dtype)).astype("int32")
        if not x.shape:
            return ones.astype("bool")
        return getattr(paddle, name)(ones, axis=axes, keepdim=call["keepdim"]).astype("bool")

    return rewrite


def _sum(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, dtype = call["x"], call["dtype"]
    if isinstance(dtype, bool):  # the third argument is keepdim if it is a bool
        dtype, call["keepdim"] = None, dtype
    axes = axes_of(call, "sum")
    if dtype is None:
        dtype = paddle.int64 if dtype_name(x) in ("bool", "int32") else x.dtype
    cast = x.astype(dtype)
    if not x.shape:
        return paddle.assign(cast)
    plain = cast.dtype == x.dtype and not _tensors(call["axis"] if call["axis"] is not None else [])
    if plain and (call["keepdim"] or len(axes) < len(x.shape)):
        return None
    kept = entry(cast, axes, cast.dtype, True)
    if kept.dtype != cast.dtype:  # int32 is added up in int64 whatever was asked for
        kept = kept.astype(cast.dtype)
    return kept if call["keepdim"] else paddle.squeeze(kept, axes)


def _logsumexp(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, axes = as_float(call["x"]), axes_of(call, "logsumexp")
    if not x.shape:
        return paddle.assign(x)
    top = paddle.max(x, axis=axes, keepdim=True)
    kept = paddle.log(paddle.sum(paddle.exp(x - top), axis=axes, keepdim=True)) + top
    return kept if call["keepdim"] else paddle.squeeze(kept, axes)


def norm(x: Any, order: float, axes: list[int], keepdim: bool) -> Any:
    """The vector norm over those axes."""
    import paddle

    size = paddle.abs(x)
    if order == math.inf:
        return paddle.max(size, axes, keepdim)
    if order == -math.inf:
        return paddle.min(size, axes, keepdim)
    if order == 0:
        return paddle.sum((x != number(0, x)).astype(x.dtype), axes, keepdim=keepdim)
    if order == 1:
        return paddle.sum(size, axes, keepdim=keepdim)
    if order == 2:
        return paddle.sqrt(paddle.sum(x * x, axes, keepdim=keepdim))
    return paddle.sum(size**order, axes, keepdim=keepdim) ** (1.0 / order)


def _p_norm(entry: Entry, call: Arguments) -> Any:
    rank = len(call["x"].shape)
    axes = list(range(rank)) if call["asvector"] else [int(call["axis"]) % max(rank, 1)]
    if call["keepdim"] and not call["asvector"] and float(call["porder"]) == 2:
        return None
    return norm(call["x"], float(call["porder"]), axes, call["keepdim"])


def _frobenius(entry: Entry, call: Arguments) -> Any:
    return norm(call["x"], 2, axes_of(call, "norm"), call["keepdim"])


def _dist(entry: Entry, call: Arguments) -> Any:
    import paddle

    difference = paddle.subtract(call["x"], call["y"])
    return norm(difference, float(call["p"]), list(range(len(difference.shape))), False)


def _all_equal(entry: Entry, call: Arguments) -> Any:
    import paddle

    return paddle.all(paddle.equal(call["x"], call["y"]))


def _all_close(entry: Entry, call: Arguments) -> Any:
    import paddle

    tolerances = (float(known(call[name], "allclose", name)) for name in ("rtol", "atol"))
    return paddle.all(paddle.isclose(call["x"], call["y"], *tolerances, call["equal_nan"]))


def _numel(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = call["x"]
    if all(size >= 0 for size in x.shape):
        return paddle.full([], math.prod(x.shape), "int64")
    return paddle.prod(paddle.shape(x).astype("int64"))


def _is_empty(entry: Entry, call: Arguments) -> Any:
    import paddle

    return paddle.numel(call["x"]) == 0


def _index(entry: Entry, call: Arguments) -> Any:
    """Of a 0-D tensor."""
    x = call["x"]
    return None if x.shape else entry(x.reshape([1]), 0, False, call["dtype"])


_AXIS = "x, axis=None, keepdim=False"
REDUCTIONS: Mapping[str, Rewrite] = {
    "amax": Rewrite(_kept("max")),
    "amin": Rewrite(_kept("min")),
    "max": Rewrite(_kept("max"), _AXIS),
    "min": Rewrite(_kept("min"), _AXIS),
    "mean": Rewrite(_kept("mean"), _AXIS),
    "prod": Rewrite(_kept("prod"), f"{_AXIS}, reduce_all=False"),
    "sum": Rewrite(_sum),
    "logsumexp": Rewrite(_logsumexp),
    "all": Rewrite(_truth("min")),
    "any": Rewrite(_truth("max")),
    "argmax": Rewrite(_index),
    "argmin": Rewrite(_index),
    "p_norm": Rewrite(_p_norm, "x, porder, axis, epsilon=0.0, keepdim=False, asvector=False"),
    "frobenius_norm": Rewrite(_frobenius, "x, axis, keepdim=False, reduce_all=False"),
    "dist": Rewrite(_dist, "x, y, p"),
    "equal_all": Rewrite(_all_equal, "x, y"),
    "allclose": Rewrite(_all_close, "x, y, rtol, atol, equal_nan"),
    "numel": Rewrite(_numel, "x"),
    "is_empty": Rewrite(_is_empty, "x"),
}
