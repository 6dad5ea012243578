"""Reductions along axes, running sums, and what is counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.binary import close, promoted
from exporter.export.lower.onnx_program.ops.pointwise import own_float


def axes_of(c: Call, rank: int) -> list[int]:
    """The axes, an operand or an attribute; none given means all of them."""
    if len(c) > 1:
        axes = c.integers(1)
    else:
        told = c.attr("axis", [])
        axes = list(told) if isinstance(told, (list, tuple)) else [int(told)]
    everything = c.attr("reduce_all", False) or not axes
    return list(range(rank)) if everything or not rank else sorted({axis % rank for axis in axes})


def _keeps(c: Call) -> bool:
    return bool(c.attr("keepdim", False) or c.attr("keep_dim", False))


def _reduction(kind: str) -> Lowering:
    """In the dtype of the result: Paddle sums bool and int32 as int64."""

    def lower(c: Call) -> Tensor:
        c.ignore("dtype")
        dtype = wide(c.result().dtype)
        x = c.raw()
        x = c.b.cast(c.b.cast(x, "bool"), "int32") if dtype == "bool" else c.b.cast(x, dtype)
        return c.b.reduce(kind, x, axes_of(c, x.rank), _keeps(c))

    return lower


def _logical(kind: str) -> Lowering:
    def lower(c: Call) -> Tensor:
        x = c.b.cast(c.b.cast(c.x(), "bool"), "int32")
        return c.b.cast(c.b.reduce(kind, x, axes_of(c, x.rank), _keeps(c)), "bool")

    return lower


def _mean_all(c: Call) -> Tensor:
    return c.b.reduce("ReduceMean", own_float(c), None, keep=False)


def _logsumexp(c: Call) -> Tensor:
    x = own_float(c)
    return c.b.reduce("ReduceLogSumExp", x, axes_of(c, x.rank), _keeps(c))


def norm(c: Call, x: Tensor, axes: list[int], order: float, keep: bool) -> Tensor:
    """The norm of an order along axes: of 0 it counts, of infinity it is the largest size."""
    b, size = c.b, c.b.emit("Abs", x)
    if math.isinf(order):
        return b.reduce("ReduceMax" if order > 0 else "ReduceMin", size, axes, keep)
    if order == 0:
        some = b.cast(b.emit("Not", b.emit("Equal", size, 0.0)), x.dtype)
        return b.reduce("ReduceSum", some, axes, keep)
    if order == 1:
        return b.reduce("ReduceSum", size, axes, keep)
    if order == 2:
        return b.emit("Sqrt", b.reduce("ReduceSum", b.emit("Mul", x, x), axes, keep))
    total = b.reduce("ReduceSum", b.emit("Pow", size, b.constant(order, x.dtype)), axes, keep)
    return b.emit("Pow", total, b.constant(1.0 / order, x.dtype))


def _p_norm(c: Call) -> Tensor:
    c.ignore("epsilon")  # of the gradient
    x, everything = own_float(c), c.attr("asvector", False)
    axis = int(c.attr("axis", -1))
    axes = list(range(x.rank)) if everything or not x.rank else [axis % x.rank]
    return norm(c, x, axes, float(c.attr("porder")), bool(c.attr("keepdim")))


def _frobenius(c: Call) -> Tensor:
    x = own_float(c)
    return norm(c, x, axes_of(c, x.rank), 2.0, _keeps(c))


def _renorm(c: Call) -> Tensor:
    """Each slice along an axis, scaled down to a norm where it has more; powers as they are, also of 0 and infinity."""
    b, x = c.b, c.x()
    if x.dtype != "float32":
        raise c.refuse("Paddle computes the norms of float64 in less than float64, which is not written")
    power, axis = float(np.float32(c.attr("p"))), int(c.attr("axis")) % x.rank
    raised = b.emit("Pow", b.emit("Abs", x), b.constant(power, "float32"), shape=x.shape)
    total = b.reduce("ReduceSum", raised, [at for at in range(x.rank) if at != axis], keep=True)
    inverse = math.copysign(math.inf, power) if power == 0 else 1.0 / power
    size = b.emit("Pow", total, b.constant(inverse, "float32"), shape=total.shape)
    most = b.constant(c.attr("max_norm"), "float32")
    scale = b.emit("Div", most, b.emit("Add", size, 1e-7), shape=size.shape)
    return b.emit("Mul", x, b.emit("Where", b.emit("Greater", size, most), scale, 1.0, dtype="float32"))


def _dist(c: Call) -> Tensor:
    x, y = promoted(c)
    moved = c.b.emit("Sub", x, y)
    return norm(c, moved, list(range(moved.rank)), float(c.attr("p")), keep=False)


def _arg(kind: str) -> Lowering:
    def lower(c: Call) -> Tensor:
        b, x = c.b, c.x()
        x = b.cast(x, "int32") if x.dtype == "bool" else x
        axis, flat, keep = c.integers(1)[0], c.attr("flatten"), bool(c.attr("keepdims"))
        c.ignore("dtype")
        if flat or not x.rank:
            found = b.emit(kind, b.reshape(x, [-1]), axis=0, keepdims=0, shape=[])
            return b.reshape(found, [1] * x.rank) if keep else found
        axis %= x.rank
        shape = [1 if at == axis else size for at, size in enumerate(x.shape) if keep or at != axis]
        return b.emit(kind, x, axis=axis, keepdims=int(keep), shape=shape)

    return lower


def _cumsum(c: Call) -> Tensor:
    b, x = c.b, c.b.cast(c.raw(), wide(c.result().dtype))
    if c.attr("flatten"):
        x = b.reshape(x, [-1])
    c.idle(1)
    axis = 0 if c.attr("flatten") else c.integers(1)[0]
    lone = not x.rank
    x = b.reshape(x, [1]) if lone else x
    flags: dict[str, Any] = {name: 1 for name in ("exclusive", "reverse") if c.attr(name)}
    summed = b.emit("CumSum", x, b.constant(axis % x.rank), shape=x.shape, **flags)
    return b.reshape(summed, [], []) if lone else summed


def _logcumsumexp(c: Call) -> Tensor:
    """Log of a running sum of exponentials, each less the largest of all, which may lose what is far smaller."""
    b, x, axis = c.b, own_float(c), int(c.attr("axis"))
    flags: dict[str, Any] = {name: 1 for name in ("exclusive", "reverse") if c.attr(name)}
    if c.attr("flatten"):
        x, axis = b.reshape(x, [-1]), 0
    top = b.reduce("ReduceMax", x, [axis], keep=True)
    grown = b.emit("Exp", b.emit("Sub", x, top))
    summed = b.emit("CumSum", grown, b.constant(axis % x.rank), shape=x.shape, **flags)
    return b.emit("Add", b.emit("Log", summed), top)


def _cumprod(c: Call) -> Tensor:
    """Products of what stands before and at each place: a table of rows, with 1 behind the diagonal."""
    b, x = c.b, c.x()
    c.insist("exclusive", False)
    c.insist("reverse", False)
    axis = int(c.attr("dim")) % max(x.rank, 1)
    if not x.rank:
        return b.emit("Identity", x)
    order = [at for at in range(x.rank) if at != axis] + [axis]
    turned = b.transpose(x, order)
    count = b.reshape(b.size_of(x, axis), [], [])
    places = b.numbering(count, x.shape[axis])
    seen = b.emit("LessOrEqual", b.unsqueeze(places, [0]), b.unsqueeze(places, [1]))
    rows = b.emit("Where", seen, b.unsqueeze(turned, [x.rank - 1]), b.constant(1, x.dtype))
    made = b.reduce("ReduceProd", rows, [-1], keep=False)
    return b.transpose(made, [order.index(at) for at in range(x.rank)])


def _histogram(c: Call) -> Tensor:
    """How many elements, or how much weight, is in each bin; the last has its end, too.

    Bounds that are equal mean the data's, and these are moved apart by 1 where they are equal. The bin is computed in
    the operand's dtype, integers divided as integers (histogram_kernel.cc, 3.3.1).
    """
    b, x, bins = c.b, c.b.reshape(c.x(), [-1]), int(c.attr("bins"))
    x = x if x.is_float else b.cast(x, "int64")
    bounds = [float(np.float32(c.attr(name))) for name in ("min", "max")]
    bounds = bounds if x.is_float else [int(bound) for bound in bounds]
    low, high = (b.constant(bound, x.dtype) for bound in bounds)
    if bounds[0] == bounds[1]:
        low, high = _ends(b, x)
    inside = b.emit("And", b.emit("GreaterOrEqual", x, low), b.emit("LessOrEqual", x, high))
    width = b.emit("Sub", high, low)
    place = b.emit("Div", b.emit("Mul", b.emit("Sub", x, low), float(bins)), width)
    place = b.cast(b.emit("Where", inside, place, 0.0, dtype=x.dtype), "int64")
    place = b.emit("Min", place, b.constant(bins - 1))
    dtype = wide(c.result().dtype)
    weight = b.reshape(b.cast(c.raw(1), dtype), [-1]) if c.has(1) else b.cast(inside, dtype)
    if c.has(1):
        weight = b.emit("Where", inside, weight, 0.0, dtype=dtype)
    none = b.constant([0] * bins, dtype)
    found = b.emit("ScatterElements", none, place, weight, axis=0, reduction="add", shape=[bins])
    if not c.attr("density"):
        return found
    share = b.emit("Div", found, b.reduce("ReduceSum", found, [0], keep=True))
    return b.emit("Div", share, b.emit("Div", b.cast(width, dtype), float(bins)))


def _ends(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the largest number of a vector, without NaN; moved apart where they are equal."""
    ends = []
    for kind, other in (("ReduceMin", 1), ("ReduceMax", -1)):
        extreme = other * (np.inf if x.is_float else np.iinfo("int64").max)
        seen = b.emit("Where", b.emit("IsNaN", x), extreme, x, dtype=x.dtype) if x.is_float else x
        ends.append(b.reduce(kind, b.concat([seen, b.constant([extreme], x.dtype)]), [0], keep=False))
    apart = b.cast(b.emit("Equal", *ends), x.dtype)
    return b.emit("Sub", ends[0], apart), b.emit("Add", ends[1], apart)


def _numel(c: Call) -> Tensor:
    return c.b.emit("Size", c.x(), shape=[])


def _is_empty(c: Call) -> Tensor:
    return c.b.emit("Equal", c.b.emit("Size", c.x(), shape=[]), 0.0)


def _equal_all(c: Call) -> Tensor:
    b = c.b
    same = b.cast(b.emit("Equal", *promoted(c)), "int32")
    return b.cast(b.reduce("ReduceMin", same, None, keep=False), "bool")


def _allclose(c: Call) -> Tensor:
    near = c.b.cast(close(c), "int32")
    return c.b.cast(c.b.reduce("ReduceMin", near, None, keep=False), "bool")


OPERATORS: dict[str, Lowering] = {
    "sum": _reduction("ReduceSum"),
    "mean": _reduction("ReduceMean"),
    "max": _reduction("ReduceMax"),
    "min": _reduction("ReduceMin"),
    "amax": _reduction("ReduceMax"),
    "amin": _reduction("ReduceMin"),
    "prod": _reduction("ReduceProd"),
    "all": _logical("ReduceMin"),
    "any": _logical("ReduceMax"),
    "mean_all": _mean_all,
    "logsumexp": _logsumexp,
    "p_norm": _p_norm,
    "frobenius_norm": _frobenius,
    "dist": _dist,
    "renorm": _renorm,
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "cumsum": _cumsum,
    "logcumsumexp": _logcumsumexp,
    "cumprod": _cumprod,
    "histogram": _histogram,
    "numel": _numel,
    "is_empty": _is_empty,
    "equal_all": _equal_all,
    "allclose": _allclose,
}
