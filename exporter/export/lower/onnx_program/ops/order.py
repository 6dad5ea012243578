"""What sorts, chooses and searches."""

from __future__ import annotations

import math

import numpy as np

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor


def top(b: Builder, x: Tensor, count: Tensor, axis: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The first of a sorted axis and their places, equal ones in their order."""
    axis %= x.rank
    size = int(count.array.ravel()[0]) if count.array is not None else -1
    shape = tuple(size if at == axis else whole for at, whole in enumerate(x.shape))
    values, places = b.many("TopK", x, count, shapes=[shape, shape], axis=axis, largest=int(largest), sorted=1)
    return values, Tensor(places.name, "int64", shape)


def _sortable(c: Call, at: int = 0) -> Tensor:
    x = c.x(at)
    return c.b.cast(x, "int32") if x.dtype == "bool" else x


def _topk(c: Call) -> list[Tensor]:
    c.ignore("sorted")
    x = _sortable(c)
    count = c.vector(1) if c.has(1) else c.b.constant([int(c.attr("k"))])
    return list(top(c.b, x, count, int(c.attr("axis")), bool(c.attr("largest"))))


def _argsort(c: Call) -> list[Tensor]:
    """Stable, whether that is asked for or not."""
    b, x, axis = c.b, _sortable(c), int(c.attr("axis"))
    c.ignore("stable")
    if not x.rank:
        return [x, b.constant(0)]
    return list(top(b, x, b.size_of(x, axis), axis, bool(c.attr("descending"))))


def _kthvalue(c: Call) -> list[Tensor]:
    b, x, axis, k = c.b, _sortable(c), int(c.attr("axis")), int(c.attr("k"))
    axis %= x.rank
    found = (b.slice(one, [k - 1], [k], [axis]) for one in top(b, x, b.constant([k]), axis, largest=False))
    return [one if c.attr("keepdim") else b.squeeze(one, [axis]) for one in found]


def _median(ignores_nan: bool) -> Lowering:
    """The mean of the two in the middle, or the lower of them with its place: of equal ones the first.

    NaN where one is, and the place of the first; or NaN left out. NaN of no number. (Paddle takes the place that its
    `topk` gives, which follows no order among equal ones.)
    """

    def lower(c: Call) -> list[Tensor | None]:
        b, x, keep = c.b, c.x(), bool(c.attr("keepdim"))
        mean = c.insist("mode", "avg", "min") == "avg"
        if mean and c.wants(1):
            raise c.refuse("the places of the two in the middle are not written")
        axes = sorted({int(axis) % max(x.rank, 1) for axis in c.attr("axis")}) or list(range(x.rank))
        if not x.rank:
            return [b.emit("Identity", x), b.constant(0)]
        rows = _rows(b, x, axes)
        size = rows.shape[-1]
        if x.is_float and size < 1:  # there may be no number, and one NaN more changes nothing
            ends = b.concat([*(b.size_of(rows, at) for at in range(rows.rank - 1)), b.constant([1])])
            rows = b.concat([rows, b.expand(b.constant(np.nan, x.dtype), ends, (*rows.shape[:-1], 1))], -1)
        most = b.constant([size // 2 + 1]) if size >= 0 else b.size_of(rows, -1)
        right = b.emit("Equal", rows, rows)
        wrong = b.emit("Not", right)
        key = b.emit("Where", wrong, np.inf, rows, dtype=x.dtype, shape=rows.shape) if x.is_float else rows
        values, _ = top(b, key, most, -1, largest=False)
        count = b.reduce("ReduceSum", b.cast(right, "int64"), [-1], keep=True)
        found = _middle(b, values, count, mean)
        whole = b.constant(1) if ignores_nan else b.size_of(x, axes[0]) if len(axes) == 1 else _count(b, x, axes)
        none = b.emit("Or", b.emit("Less", count, whole), b.emit("Equal", count, b.constant(0)))
        if x.is_float:
            found = b.emit("Where", none, np.nan, found, dtype=x.dtype, shape=count.shape)

        def shaped(one: Tensor) -> Tensor:
            return b.unsqueeze(b.squeeze(one, [-1]), axes) if keep else b.squeeze(one, [-1])

        if mean:  # of a mean Paddle has two places
            return [shaped(found), None]
        chosen = b.emit("Or", b.emit("Equal", rows, found), b.emit("And", wrong, none))
        place = b.emit("ArgMax", b.cast(chosen, "int32"), axis=-1, keepdims=1, shape=count.shape)
        if ignores_nan:  # nothing but NaN has place -1, or 0 where all rows are so
            some = b.cast(b.emit("Greater", b.reduce("ReduceSum", count, None, keep=False), b.constant(0)), "int64")
            place = b.emit("Where", none, b.emit("Neg", some), place, shape=count.shape)
        return [shaped(found), shaped(place)]

    return lower


def _middle(b: Builder, values: Tensor, count: Tensor, mean: bool) -> Tensor:
    """The lower of the two in the middle of the first `count` of each sorted row, or the mean of both."""
    low = b.emit("Div", b.emit("Max", b.emit("Sub", count, b.constant(1)), b.constant(0)), b.constant(2))
    found = b.emit("GatherElements", values, low, axis=-1, shape=low.shape)
    if not mean:
        return found
    high = b.emit("Div", count, b.constant(2))
    above = b.emit("GatherElements", values, high, axis=-1, shape=low.shape)
    both = b.emit("Div", b.emit("Add", found, above), 2)
    return b.emit("Where", b.emit("Equal", low, high), found, both, shape=low.shape)


def _rows(b: Builder, x: Tensor, axes: list[int]) -> Tensor:
    """Some axes as one, the last."""
    others = [at for at in range(x.rank) if at not in axes]
    turned = b.transpose(x, [*others, *axes])
    if len(axes) == 1:
        return turned
    sizes = [x.shape[at] for at in axes]
    shape = [*(x.shape[at] for at in others), -1 if min(sizes) < 0 else math.prod(sizes)]
    return b.reshape(turned, b.concat([*(b.size_of(x, at) for at in others), _count(b, x, axes)]), shape)


def _count(b: Builder, x: Tensor, axes: list[int]) -> Tensor:
    """How many elements some axes have together."""
    return b.reduce("ReduceProd", b.concat([b.size_of(x, at) for at in axes]), [0], keep=True)


def _searchsorted(c: Call) -> Tensor:
    """How many of a sorted row are below each value, or not above it."""
    b, rows, values = c.b, c.x(0), c.x(1)
    c.ignore("out_int32")
    values = b.cast(values, rows.dtype)
    spread = rows if rows.rank == 1 else b.unsqueeze(rows, [rows.rank - 1])
    below = b.emit("LessOrEqual" if c.attr("right") else "Less", spread, b.unsqueeze(values, [values.rank]))
    return b.reduce("ReduceSum", b.cast(below, "int64"), [-1], keep=False)


def _unique(c: Call) -> list[Tensor]:
    """Sorted; ONNX gives the first places, those of each element, and how many there are, as Paddle."""
    b, operand = c.b, c.x()
    c.ignore("return_index", "return_inverse", "return_counts", "is_sorted", "dtype")
    x = b.cast(operand, "int64") if operand.dtype == "int32" else operand  # ONNX Runtime 1.31 has no kernel of int32
    axes = list(c.attr("axis"))
    more = {"axis": int(axes[0]) % x.rank} if axes else {}
    made = b.many("Unique", x, shapes=[one.shape if axes else (-1,) for one in (x, x, x, x)], sorted=1, **more)
    values, *places = made
    return [b.cast(values, operand.dtype), *(Tensor(one.name, "int64", (-1,)) for one in places)]


def _unique_consecutive(c: Call) -> list[Tensor]:
    """The first of each run of equal rows, the run of each row, and the length of each run; NaN equals nothing.

    (Of a flat tensor that begins with NaN Paddle 3.3.1 makes a run too many, with what the memory held.)
    """
    b, x, axes = c.b, c.raw(), list(c.attr("axis"))
    c.ignore("return_inverse", "return_counts")
    dtype = c.attr("dtype")
    x = x if axes else b.reshape(x, [-1])
    axis = int(axes[0]) % x.rank if axes else 0
    before, after = b.slice(x, [0], [-1], [axis]), b.slice(x, [1], [np.iinfo("int32").max], [axis])
    differ = b.cast(b.emit("Not", b.emit("Equal", after, before)), "int32")
    others = [at for at in range(x.rank) if at != axis]
    differ = b.reduce("ReduceMax", differ, others, keep=False) if others else differ
    count = b.size_of(x, axis)
    starts = b.concat([b.constant([1], "int32"), differ])
    if x.shape[axis] < 1:  # there may be no row
        starts = b.emit("Slice", starts, b.constant([0]), count, shape=[x.shape[axis]])
    starts = b.cast(starts, "int64")
    shape = [size if at in others else -1 for at, size in enumerate(x.shape)]
    firsts = b.emit("Compress", x, b.cast(starts, "bool"), axis=axis, shape=shape)
    run = b.emit("Sub", b.emit("CumSum", starts, b.constant(0), shape=starts.shape), b.constant(1))
    places = b.squeeze(b.emit("NonZero", starts, shape=[1, -1]), [0])
    ends = b.concat([b.slice(places, [1], [np.iinfo("int32").max], [0]), count])
    if x.shape[axis] < 1:
        ends = b.emit("Slice", ends, b.constant([0]), b.emit("Shape", places, shape=[1]), shape=[-1])
    return [firsts, b.cast(run, dtype), b.cast(b.emit("Sub", ends, places, shape=[-1]), dtype)]


def _bincount(c: Call) -> Tensor:
    """Ones, or weights, added up at their places."""
    b, x = c.b, b_int(c)
    length = b.emit("Add", b.reduce("ReduceMax", x, None, keep=False), 1.0)
    least = b.cast(b.reshape(c.raw(2), [], []), "int64")
    length = b.unsqueeze(b.emit("Max", length, least), [0])
    dtype = c.result().dtype
    weights = b.cast(c.raw(1), dtype) if c.has(1) else b.expand(b.constant(1, dtype), b.shape_of(x), x.shape)
    zeros = b.expand(b.constant(0, dtype), length, [-1])
    return b.emit("ScatterElements", zeros, x, weights, axis=0, reduction="add", shape=[-1])


def b_int(c: Call) -> Tensor:
    """The first operand as int64."""
    return c.b.cast(c.raw(0), "int64")


OPERATORS: dict[str, Lowering] = {
    "topk": _topk,
    "argsort": _argsort,
    "kthvalue": _kthvalue,
    "median": _median(ignores_nan=False),
    "nanmedian": _median(ignores_nan=True),
    "searchsorted": _searchsorted,
    "unique": _unique,
    "unique_consecutive": _unique_consecutive,
    "bincount": _bincount,
}
