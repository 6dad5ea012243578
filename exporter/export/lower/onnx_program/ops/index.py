"""What reads or writes places: gather, scatter, setitem, masks."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor

_FAR = sys.maxsize


def _gather(c: Call) -> Tensor:
    """Along one axis. An index of shape [n, 1] is one of [n]."""
    b, x, index = c.b, c.x(0), c.raw(1)
    axis = c.integers(2)[0] % max(x.rank, 1) if c.has(2) else int(c.attr("axis", 0)) % x.rank
    if index.rank == 2:
        index = b.squeeze(index, [1])
    return b.emit("Gather", x, index, axis=axis, shape=c.result().shape)


def _gather_nd(c: Call) -> Tensor:
    x, index = c.x(0), c.b.cast(c.raw(1), "int64")
    if not index.shape[-1]:
        return c.b.emit("Identity", x)
    return c.b.emit("GatherND", x, index, shape=c.result().shape)


def _index_select(c: Call) -> Tensor:
    x = c.x(0)
    return c.b.emit("Gather", x, c.raw(1), axis=int(c.attr("axis")) % x.rank, shape=c.result().shape)


def _index_sample(c: Call) -> Tensor:
    index = c.raw(1)
    return c.b.emit("GatherElements", c.x(0), index, axis=1, shape=index.shape)


def _take_along_axis(c: Call) -> Tensor:
    """Other dims than the axis are broadcast before, by Paddle's Python."""
    x, index = c.x(0), c.raw(1)
    return c.b.emit("GatherElements", x, index, axis=int(c.attr("axis")) % x.rank, shape=index.shape)


def _put_along_axis(c: Call) -> Tensor:
    b, x, index = c.b, c.x(0), c.b.cast(c.raw(1), "int64")
    value = b.cast(c.raw(2), x.dtype)
    way = c.insist("reduce", "assign", "add", "mul", "multiply", "amin", "amax")
    c.insist("include_self", True)
    kinds = {"assign": "none", "add": "add", "mul": "mul", "multiply": "mul", "amin": "min", "amax": "max"}
    if way in ("amin", "amax"):
        c.since(18, "a scatter that keeps the largest or smallest")
    axis = int(c.attr("axis")) % x.rank
    value = b.expand(value, b.shape_of(index), index.shape) if value.shape != index.shape else value
    return b.emit("ScatterElements", x, index, value, axis=axis, reduction=kinds[way], shape=x.shape)


def _embedding(c: Call) -> Tensor:
    """Rows of the weight; the padding's row is zero."""
    b, index, weight, padding = c.b, c.raw(0), c.x(1), int(c.attr("padding_idx"))
    c.ignore("sparse")
    rows = b.emit("Gather", weight, index, axis=0, shape=[*index.shape, weight.shape[1]])
    if padding == -1:
        return rows
    idle = b.unsqueeze(b.emit("Equal", index, b.constant(padding, index.dtype)), [index.rank])
    return b.emit("Where", idle, b.constant(0, weight.dtype), rows)


def _column(c: Call, at: int) -> Tensor:
    """An index of shape [n] or [n, 1] as [n, 1]."""
    index = c.b.cast(c.raw(at), "int64")
    index = c.b.reshape(index, [1]) if not index.rank else index
    return index if index.rank == 2 else c.b.unsqueeze(index, [1])


def _scatter(c: Call) -> Tensor:
    """Rows by place; without overwrite those that are named begin at zero, and equal places are added."""
    b, x, index, rows = c.b, c.x(0), _column(c, 1), c.x(2)
    if c.attr("overwrite"):
        return b.emit("ScatterND", x, index, rows, shape=x.shape)
    zeros = (
        b.emit("Sub", rows, rows)
        if not rows.is_float
        else b.emit("Mul", b.cast(b.emit("IsInf", rows), rows.dtype), 0.0)
    )
    cleared = b.emit("ScatterND", x, index, zeros, shape=x.shape)
    return b.emit("ScatterND", cleared, index, rows, reduction="add", shape=x.shape)


def _scatter_nd_add(c: Call) -> Tensor:
    x, index, rows = c.x(0), c.b.cast(c.raw(1), "int64"), c.x(2)
    return c.b.emit("ScatterND", x, index, rows, reduction="add", shape=x.shape)


def _index_add(c: Call) -> Tensor:
    b, x, rows = c.b, c.x(0), c.x(2)
    axis = int(c.attr("axis")) % x.rank
    order = [axis, *(at for at in range(x.rank) if at != axis)]
    back = [order.index(at) for at in range(x.rank)]
    added = b.emit(
        "ScatterND", b.transpose(x, order), _column(c, 1), b.transpose(rows, order), reduction="add",
        shape=[x.shape[at] for at in order],
    )  # fmt: skip
    return b.transpose(added, back)


def nonzero(b: Builder, mask: Tensor) -> Tensor:
    """Places of what is not zero, one a row."""
    if mask.dtype == "float64":  # ONNX Runtime 1.31 has no kernel for it
        mask = b.emit("Not", b.emit("Equal", mask, 0.0))
    found = b.emit("NonZero", mask, shape=[mask.rank, -1])
    return b.transpose(found, [1, 0])


def _nonzero(c: Call) -> Tensor:
    return nonzero(c.b, c.x())


def _index_put(c: Call) -> Tensor:
    """x[indices] = value, or += with accumulate; a bool index stands for the places where it is true."""
    b, x, indices = c.b, c.x(0), c.xs(1)
    columns: list[Tensor] = []
    for index in indices:
        if index.dtype == "bool":
            places = nonzero(b, index)
            columns += [b.reshape(b.slice(places, [at], [at + 1], [1]), [-1]) for at in range(index.rank)]
        else:
            columns.append(b.cast(index, "int64"))
    zero = b.constant(0)
    total = columns[0]
    for column in columns[1:]:
        total = b.emit("Add", total, column)
    sizes = b.shape_of(total) if total.rank else b.constant([1])
    spread = [b.expand(b.emit("Add", column, zero), sizes, total.shape or (1,)) for column in columns]
    places = b.concat([b.unsqueeze(column, [column.rank]) for column in spread], spread[0].rank)
    inner = [b.size_of(x, at) for at in range(len(columns), x.rank)]
    target = b.concat([sizes, *inner])
    shape = [*(total.shape or (1,)), *x.shape[len(columns) :]]
    value = b.expand(b.cast(c.raw(2), x.dtype), target, shape)
    way = "add" if c.attr("accumulate") else "none"
    return b.emit("ScatterND", x, places, value, reduction=way, shape=x.shape)


def _masked_select(c: Call) -> Tensor:
    b, x, mask = c.b, c.x(0), c.raw(1)
    if x.shape != mask.shape or -1 in x.shape:
        both = b.emit("Or", b.cast(b.emit("Equal", x, x), "bool"), mask)
        sizes = b.shape_of(both)
        x, mask = b.expand(x, sizes, both.shape), b.expand(mask, sizes, both.shape)
    return b.emit("Compress", b.reshape(x, [-1]), b.reshape(mask, [-1]), axis=0, shape=[-1])


def _masked_fill(c: Call) -> Tensor:
    x = c.x(0)
    return c.b.emit("Where", c.raw(1), c.b.cast(c.raw(2), x.dtype), x)


def _where(c: Call) -> Tensor:
    b, dtype = c.b, wide(c.result().dtype)
    return b.emit("Where", b.cast(c.raw(0), "bool"), b.cast(c.raw(1), dtype), b.cast(c.raw(2), dtype))


def put(b: Builder, x: Tensor, places: Tensor, value: Tensor) -> Tensor:
    """X with values at flat places; both have one shape."""
    flat = b.reshape(x, [-1])
    filled = b.emit("ScatterElements", flat, b.reshape(places, [-1]), b.reshape(value, [-1]), axis=0, shape=flat.shape)
    return b.reshape(filled, b.shape_of(x), x.shape)


def flat_places(b: Builder, x: Tensor) -> Tensor:
    """0, 1, 2, … in the shape of a tensor."""
    import numpy as np

    if all(size >= 0 for size in x.shape):
        return b.constant(np.arange(int(np.prod(x.shape))).reshape(x.shape))
    count = b.emit("Size", x, shape=[])
    return b.reshape(b.numbering(count), b.shape_of(x), x.shape)


def _set_value(c: Call, value: Tensor | None, first: int) -> Tensor:
    """x[a:b:s, …] = value: the flat places of the slice are cut out of all places, and written to."""
    b, x = c.b, c.x(0)
    axes = [int(axis) for axis in c.attr("axes")]
    gone, new = (list(c.attr(name)) for name in ("decrease_axes", "none_axes"))
    places = flat_places(b, x)
    if axes:
        starts, ends, steps = (c.vector(first + at) for at in range(3))
        known = all(c.known(first + at) for at in range(3))
        shape = list(x.shape)
        if known:
            bounds = zip(axes, *(c.integers(first + at) for at in range(3)), strict=True)
            starts, ends, shape = _clamped(b, list(bounds), shape)
        else:
            for axis in axes:
                shape[axis] = 1 if axis in gone else -1
        places = b.emit("Slice", places, starts, ends, b.constant(axes), steps, shape=shape)
    else:
        c.idle(first, first + 1, first + 2)
    places = b.unsqueeze(b.squeeze(places, gone), _new_places(x.rank, gone, new))
    if value is None:
        import numpy as np

        held = np.array(c.attr("values")).reshape(c.attr("shape"))
        value = b.constant(held, x.dtype)
        c.ignore("dtype")
    value = b.cast(value, x.dtype)
    while value.rank > places.rank and value.shape[0] == 1:
        value = b.squeeze(value, [0])
    spread = b.expand(value, b.shape_of(places), places.shape)
    return put(b, x, places, spread)


def _new_places(rank: int, gone: Sequence[int], new: Sequence[int]) -> list[int]:
    """Where the new dims of a slice come to stand: each is told by the axis of x that it comes before (3.3.1)."""
    waiting, kept, found = list(new), 0, list[int]()
    for axis in range(rank + 1):
        while waiting and (axis == rank or waiting[0] <= axis):
            del waiting[0]
            found.append(kept + len(found))
        kept += axis not in gone
    return found


def _clamped(
    b: Builder, bounds: Sequence[tuple[int, int, int, int]], shape: list[int]
) -> tuple[Tensor, Tensor, list[int]]:
    """Constant bounds, with the sizes that they leave."""
    starts, ends = [], []
    for axis, start, end, step in bounds:
        if shape[axis] >= 0:
            shape[axis] = len(range(*slice(start, end, step).indices(shape[axis])))
        starts.append(start)
        ends.append(end)
    return b.constant(starts), b.constant(ends), shape


def _set_value_constant(c: Call) -> Tensor:
    return _set_value(c, None, 1)


def _set_value_with_tensor(c: Call) -> Tensor:
    return _set_value(c, c.x(1), 2)


def _fill_diagonal_tensor(c: Call) -> Tensor:
    b, x, y = c.b, c.x(0), c.x(1)
    from exporter.export.lower.onnx_program.ops.create import diagonal

    places = diagonal(c, flat_places(b, x), int(c.attr("offset")), int(c.attr("dim1")), int(c.attr("dim2")))
    return put(b, x, places, y)


def _repeat(c: Call) -> Tensor:
    """Each element `repeats` times along an axis."""
    b, x, times = c.b, c.x(), int(c.attr("repeats"))
    c.ignore("output_size")
    axis = int(c.attr("axis")) % x.rank
    lifted = b.unsqueeze(x, [axis + 1])
    sizes = b.constant([1] * (axis + 1) + [times] + [1] * (x.rank - axis - 1))
    tiled = b.emit("Tile", lifted, sizes, shape=[*x.shape[: axis + 1], times, *x.shape[axis + 1 :]])
    parts = [b.size_of(x, at) for at in range(x.rank)]
    parts[axis] = b.emit("Mul", parts[axis], b.constant([times]))
    return b.reshape(tiled, b.concat(parts), c.result().shape)


def _repeat_by_tensor(c: Call) -> Tensor:
    """Element i stands in the places below the running sum of the repeats, and not below the sum before it."""
    b, x = c.b, c.x(0)
    times = b.cast(c.raw(1), "int64")
    c.ignore("output_size")
    ends = b.emit("CumSum", times, b.constant(0), shape=times.shape)
    total = b.reshape(b.slice(ends, [-1], [_FAR], [0]), [], [])
    places = b.numbering(total)
    passed = b.emit("GreaterOrEqual", b.unsqueeze(places, [1]), b.unsqueeze(ends, [0]))
    index = b.reduce("ReduceSum", b.cast(passed, "int64"), [1], keep=False)
    return b.emit("Gather", x, index, axis=int(c.attr("axis")) % x.rank, shape=c.result().shape)


def _shard_index(c: Call) -> Tensor:
    """The place in the shard, or the value for what lies in another."""
    b, x = c.b, c.x()
    shards = int(c.attr("nshards"))
    size = b.constant(-(-int(c.attr("index_num")) // shards), x.dtype)
    own = b.emit("Equal", b.emit("Div", x, size), b.constant(int(c.attr("shard_id")), x.dtype))
    return b.emit("Where", own, b.emit("Mod", x, size), b.constant(int(c.attr("ignore_value")), x.dtype))


OPERATORS: dict[str, Lowering] = {
    "gather": _gather,
    "gather_nd": _gather_nd,
    "index_select": _index_select,
    "index_sample": _index_sample,
    "take_along_axis": _take_along_axis,
    "put_along_axis": _put_along_axis,
    "embedding": _embedding,
    "scatter": _scatter,
    "scatter_nd_add": _scatter_nd_add,
    "index_add": _index_add,
    "nonzero": _nonzero,
    "index_put": _index_put,
    "masked_select": _masked_select,
    "masked_fill": _masked_fill,
    "where": _where,
    "shard_index": _shard_index,
    "set_value": _set_value_constant,
    "set_value_with_tensor": _set_value_with_tensor,
    "fill_diagonal_tensor": _fill_diagonal_tensor,
    "repeat_interleave": _repeat,
    "repeat_interleave_with_tensor_index": _repeat_by_tensor,
}
