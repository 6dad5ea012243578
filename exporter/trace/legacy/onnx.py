"""Calls that paddle2onnx cannot convert, made of ones that it can.

paddle2onnx 2.1.0 refuses some operators of PIR, aborts its process on others, and gives every reduction to a scalar the
shape [1]. The same mechanism as for legacy programs puts a composition in the place of the C++ entry while the layer is
traced to PIR. Compositions of transcendental functions differ from Paddle's kernel in the last bits; the gate judges
them against float64 as it judges every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from exporter.trace.legacy.audit import sunk_apis
from exporter.trace.legacy.call import Call
from exporter.trace.legacy.patches import Patches
from exporter.trace.legacy.refusal import cannot_lower
from exporter.trace.legacy.table import TABLE

#: For entries that are not sunk: the arguments that Paddle's Python passes.
_SIGNATURES = {"max": "x, axis=None, keepdim=False, out=None", "min": "x, axis=None, keepdim=False, out=None",
               "mean": "x, axis=None, keepdim=False, out=None"}  # fmt: skip


@contextmanager
def convertible() -> Iterator[None]:
    """Within it, tracing to PIR writes programs that paddle2onnx converts. Everything is put back at the end.

    The Paddle of this process must be in PIR mode, 3.2 or later; before, it does nothing.
    """
    import paddle

    patches = Patches()
    try:
        held = []
        for name, rewrite in REWRITES.items():
            entry = vars(paddle._C_ops)[name]
            if name in sunk_apis() or name in _SIGNATURES:
                replacement = _dispatcher(name, entry, rewrite)
                held.append((entry, replacement))
                patches.attribute(paddle._C_ops, name, replacement)
        patches.references(held)
        yield
    finally:
        patches.undo()


def _dispatcher(name: str, entry: Callable[..., Any], rewrite: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any, **kwargs: Any) -> Any:
        import paddle

        if any(isinstance(value, paddle.pir.Value) for value in (*args, *kwargs.values())):
            if name in _SIGNATURES:
                call = Call.bind(name, _SIGNATURES[name], {}, args, kwargs)
            else:
                call = TABLE[name].bind(args, kwargs)
            if call.get("out") is None and (result := rewrite(entry, call)) is not None:
                return result
        return entry(*args, **kwargs)

    replacement.__name__ = replacement.__qualname__ = name
    replacement.__module__ = "paddle._C_ops"
    return replacement


def _axes(call: dict[str, Any]) -> list[int] | None:
    """The axes of a reduction, counted from 0; None where they are not Python numbers."""
    rank, axis = len(call["x"].shape), call["axis"]
    if axis is None or call.get("reduce_all") or (isinstance(axis, (list, tuple)) and not axis):
        return list(range(rank))
    axes = [axis] if isinstance(axis, (int, np.integer)) else axis
    if not isinstance(axes, (list, tuple)) or not all(isinstance(one, (int, np.integer)) for one in axes):
        return None
    return sorted({int(one) % max(rank, 1) for one in axes})


def _reduction(name: str) -> Callable[..., Any]:
    """`name` over the same axes, keeping them, and a squeeze afterwards, which is the only way to a true scalar."""

    def rewrite(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
        import paddle

        x, axes = call["x"], _axes(call)
        same = entry.__name__ == name
        if axes is None or (same and (call["keepdim"] or len(axes) < len(x.shape))):
            return None
        if not x.shape:
            return getattr(paddle, name)(x.reshape([1]), axis=0, keepdim=True).reshape([])
        kept = getattr(paddle, name)(x, axis=axes, keepdim=True)
        return kept if call["keepdim"] else paddle.squeeze(kept, axes)

    return rewrite


def _truth(name: str) -> Callable[..., Any]:
    """All and any are the smallest and the largest of zeros and ones."""

    def rewrite(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
        import paddle

        x, axes = call["x"], _axes(call)
        if axes is None:
            return None
        if not x.shape:
            return x.astype("bool")
        ones = (x if x.dtype == paddle.bool else x != paddle.zeros([], x.dtype)).astype("int32")
        reduced = getattr(paddle, name)(ones, axis=axes, keepdim=call["keepdim"])
        return reduced.astype("bool")

    return rewrite


def _sum(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    import paddle

    x, dtype = call["x"], call["dtype"]
    if isinstance(dtype, bool):
        dtype, call["keepdim"] = None, dtype
    axes = _axes(call)
    if axes is None:
        return None
    if dtype is None:
        dtype = paddle.int64 if x.dtype in (paddle.bool, paddle.int32) else x.dtype
    cast = x if x.dtype == dtype else x.astype(dtype)
    if cast is x and (call["keepdim"] or len(axes) < len(x.shape)):
        return None
    if not x.shape:
        return paddle.assign(cast)
    kept = entry(cast, axes, None, True)
    kept = kept.astype("bool") if cast.dtype == paddle.bool else kept
    return kept if call["keepdim"] else paddle.squeeze(kept, axes)


def _logsumexp(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    import paddle

    x, axes = _float(call["x"]), _axes(call)
    if axes is None:
        return None
    if not x.shape:
        return paddle.assign(x)
    top = paddle.max(x, axis=axes, keepdim=True)
    kept = paddle.log(paddle.sum(paddle.exp(x - top), axis=axes, keepdim=True)) + top
    return kept if call["keepdim"] else paddle.squeeze(kept, axes)


def _float(x: Any) -> Any:
    import paddle

    integers = (paddle.bool, paddle.uint8, paddle.int8, paddle.int16, paddle.int32, paddle.int64)
    return x.astype("float32") if x.dtype in integers else x


def _unary(compute: Callable[[Any], Any]) -> Callable[..., Any]:
    """Numbers beside a 0-D tensor are written as tensors of shape [1], so the shape of the result is set again."""

    def rewrite(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
        result = compute(_float(call["x"]))
        return result if call["x"].shape else result.reshape([])

    return rewrite


def _of_float(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    """Only the cast of integers is written out; the operator itself converts."""
    cast = _float(call["x"])
    return None if cast is call["x"] else entry(cast)


def _atanh(x: Any) -> Any:
    import paddle

    return paddle.log((1.0 + x) / (1.0 - x)) * 0.5


def _acosh(x: Any) -> Any:
    import paddle

    return paddle.log(x + paddle.sqrt(x - 1.0) * paddle.sqrt(x + 1.0))


def _expm1(x: Any) -> Any:
    """exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which keeps its digits near 0."""
    import paddle

    return paddle.tanh(x * 0.5) * (paddle.exp(paddle.minimum(x, paddle.full([], 80.0, x.dtype))) + 1.0)


def _softplus(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    import paddle

    x, beta, threshold = call["x"], call["beta"], call["threshold"]
    if not isinstance(beta, (int, float)) or not isinstance(threshold, (int, float)):
        return None
    scaled = x * float(beta)
    curve = paddle.log(1.0 + paddle.exp(paddle.minimum(scaled, paddle.full([], float(threshold), x.dtype))))
    result = paddle.where(scaled > float(threshold), x, curve / float(beta))
    return result if x.shape else result.reshape([])


def _isclose(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    import paddle

    x, y = call["x"], call["y"]
    if not isinstance(call["rtol"], (int, float)) or not isinstance(call["atol"], (int, float)):
        return None
    near = paddle.abs(x - y) <= paddle.abs(y) * float(call["rtol"]) + float(call["atol"])
    result = paddle.logical_or(x == y, paddle.logical_and(near, paddle.logical_not(paddle.isinf(y))))
    if call["equal_nan"]:
        result = paddle.logical_or(result, paddle.logical_and(paddle.isnan(x), paddle.isnan(y)))
    return result if x.shape or y.shape else result.reshape([])


def _dot(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    import paddle

    product = paddle.multiply(call["x"], call["y"])
    kept = paddle.sum(product, axis=-1, keepdim=True, dtype=product.dtype)
    return paddle.squeeze(kept, -1)


def _diagonal(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    """The two axes last and flat, and a gather of positions that are known while tracing."""
    import paddle

    x, offset, rank = call["x"], int(call["offset"]), len(call["x"].shape)
    if x.dtype == paddle.bool:  # paddle2onnx moves numbers only
        x = x.astype("int32")
    first, second = int(call["axis1"]) % rank, int(call["axis2"]) % rank
    rows, columns = x.shape[first], x.shape[second]
    if rows < 0 or columns < 0:
        raise cannot_lower("paddle.diagonal", "paddle2onnx aborts on dynamic dims", "give both dims fixed sizes")
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = offset if offset >= 0 else -offset * columns
    positions = paddle.to_tensor(np.arange(length, dtype="int64") * (columns + 1) + start)
    rest = [axis for axis in range(rank) if axis not in (first, second)]
    flat = paddle.reshape(paddle.transpose(x, [*rest, first, second]), [*([0] * len(rest)), rows * columns])
    picked = paddle.index_select(flat, positions, axis=len(rest))
    return picked.astype("bool") if call["x"].dtype == paddle.bool else picked


def _expand_as(entry: Callable[..., Any], call: dict[str, Any]) -> Any:
    """Broadcasting does it; the Expand that paddle2onnx writes has a shape of its own idea where dims are dynamic."""
    import paddle

    x, y = call["x"], call["y"]
    if all(size >= 0 for size in y.shape) or x.dtype == paddle.bool:
        return None
    return paddle.add(x, paddle.zeros_like(y).astype(x.dtype))


REWRITES: Mapping[str, Callable[..., Any]] = {
    "amax": _reduction("max"),
    "amin": _reduction("min"),
    "max": _reduction("max"),
    "min": _reduction("min"),
    "mean": _reduction("mean"),
    "sum": _sum,
    "logsumexp": _logsumexp,
    "all": _truth("min"),
    "any": _truth("max"),
    "atanh": _unary(_atanh),
    "acosh": _unary(_acosh),
    "expm1": _unary(_expm1),
    **dict.fromkeys(("acos", "asin", "cosh", "sinh"), _of_float),
    "softplus": _softplus,
    "isclose": _isclose,
    "dot": _dot,
    "diagonal": _diagonal,
    "expand_as": _expand_as,
}
