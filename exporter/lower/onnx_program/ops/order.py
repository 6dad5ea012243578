"""What sorts, chooses and searches."""

from __future__ import annotations

from exporter.lower.onnx_program.call import Call, Lowering
from exporter.lower.onnx_program.graph import Builder, Tensor


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


def _median(c: Call) -> list[Tensor | None]:
    """The mean of the two in the middle, or the lower of them; NaN where one is."""
    b, x, keep = c.b, c.x(), bool(c.attr("keepdim"))
    mode = c.insist("mode", "avg", "min")
    axes = [int(one) % max(x.rank, 1) for one in c.attr("axis")]
    if len(axes) != 1 or not x.rank:
        if keep or (axes and len(axes) != x.rank):
            raise c.refuse("several axes at once are not written")
        x, axes = b.reshape(x, [-1]), [0]
    (axis,) = axes
    size = x.shape[axis]
    if size < 0:
        raise c.refuse("how many numbers there are is not known before the model runs")
    if c.wants(1):
        raise c.refuse("the place of the median is not written")
    low, high = (size - 1) // 2, size // 2
    values, _ = top(b, x, b.constant([high + 1]), axis, largest=False)
    below, above = (b.slice(values, [at], [at + 1], [axis]) for at in (low, high))
    found = below if mode == "min" or low == high else b.emit("Mul", b.emit("Add", below, above), 0.5)
    if x.is_float:
        total = b.reduce("ReduceSum", x, [axis], keep=True)
        found = b.emit("Where", b.emit("IsNaN", total), total, found)
    return [found if keep else b.squeeze(found, [axis]), None]


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
    b, x = c.b, c.x()
    c.ignore("return_index", "return_inverse", "return_counts", "is_sorted", "dtype")
    axes = list(c.attr("axis"))
    more = {"axis": int(axes[0]) % x.rank} if axes else {}
    made = b.many("Unique", x, shapes=[one.shape if axes else (-1,) for one in (x, x, x, x)], sorted=1, **more)
    values, *places = made
    return [values, *(Tensor(one.name, "int64", (-1,)) for one in places)]


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
    "median": _median,
    "searchsorted": _searchsorted,
    "unique": _unique,
    "bincount": _bincount,
}
