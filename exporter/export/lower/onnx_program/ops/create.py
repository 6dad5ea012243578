"""What makes tensors out of sizes and numbers."""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.binary import floor_div

#: Constants beyond this many elements are written as Expand of one number.
_SMALL = 1024


def filled(b: Builder, value: Tensor, sizes: Tensor, shape: tuple[int, ...]) -> Tensor:
    """One number in every place; a constant where it is small."""
    import math

    import numpy as np

    scalar = b.reshape(value, [], []) if value.rank else value
    if all(size >= 0 for size in shape) and value.array is not None and math.prod(shape) <= _SMALL:
        return b.constant(np.full(shape, value.array.ravel()[0]), value.dtype)
    return b.expand(scalar, sizes, shape)


def _full(c: Call) -> Tensor:
    """What stands for a name that a loop creates is a scalar, declared with the dims of what the loop puts there.

    Nothing reads it before (dy2static, 3.3.1); ONNX wants its rank.
    """
    c.ignore("dtype")
    declared, sizes = c.result(), list(c.attr("shape"))
    if len(sizes) != len(declared.shape):
        sizes = [max(size, 1) for size in declared.shape]
    value = c.b.constant(c.attr("value"), wide(declared.dtype))
    return filled(c.b, value, c.b.constant(sizes), declared.shape)


def _full_int_array(c: Call) -> Tensor:
    c.ignore("dtype")
    return c.b.constant([int(one) for one in c.attr("value")])


def _assign_value(c: Call) -> Tensor:
    import numpy as np

    c.ignore("dtype")
    c.idle(0)
    declared = c.result()
    return c.b.constant(np.array(c.attr("values")).reshape(c.attr("shape")), wide(declared.dtype))


def _full_with_tensor(c: Call) -> Tensor:
    c.ignore("dtype")
    value = c.b.cast(c.raw(0), wide(c.result().dtype))
    return filled(c.b, value, c.vector(1), c.result().shape)


def _full_like(c: Call) -> Tensor:
    c.ignore("dtype")
    value = c.b.cast(c.raw(1), wide(c.result().dtype))
    return filled(c.b, value, c.b.shape_of(c.raw(0)), c.result().shape)


def _full_batch_size_like(c: Call) -> Tensor:
    b, x = c.b, c.raw()
    c.ignore("dtype")
    sizes, source, target = list(c.attr("shape")), int(c.attr("input_dim_idx")), int(c.attr("output_dim_idx"))
    parts = [b.constant([size]) for size in sizes]
    parts[target] = b.size_of(x, source)
    value = b.constant(c.attr("value"), wide(c.result().dtype))
    return filled(b, value, b.concat(parts), c.result().shape)


def _empty(c: Call) -> Tensor:
    """Zeros: Paddle promises no content, so no program may read it before it is written."""
    c.ignore("dtype")
    declared = c.result()
    return filled(c.b, c.b.constant(0, wide(declared.dtype)), c.vector(0), declared.shape)


def _arange(c: Call) -> Tensor:
    """Of integers downwards: counted upwards, since ONNX Runtime 1.31 makes nothing of some steps of -1."""
    b = c.b
    c.ignore("dtype")
    dtype = wide(c.result().dtype)
    bounds = [b.cast(c.raw(at), dtype) for at in range(3)]
    start, end, step = (b.reshape(one, [], []) if one.rank else one for one in bounds)
    if "float" in dtype:
        return b.emit("Range", start, end, step, shape=c.result().shape)
    size = int(c.number(2))
    if size > 0:
        return b.emit("Range", start, end, step, shape=c.result().shape)
    gap = b.emit("Add", b.emit("Sub", start, end), float(-size - 1))
    count = b.cast(floor_div(b, gap, b.constant(-size, dtype)), "int64")
    places = b.emit("Range", b.constant(0), count, b.constant(1), shape=c.result().shape)
    return b.emit("Add", start, b.emit("Mul", b.cast(places, dtype), b.constant(size, dtype)))


def _linspace(c: Call) -> Tensor:
    """Start + step * i, and from the end backwards in the second half, as Paddle's kernel; of one place the start."""
    b = c.b
    c.ignore("dtype")
    dtype = wide(c.result().dtype)
    work = dtype if "float" in dtype else "float64"
    start, stop = (b.cast(b.reshape(c.raw(at), [], []), work) for at in (0, 1))
    number = b.cast(b.reshape(c.raw(2), [], []), "int64")
    places = b.numbering(number)
    last = b.emit("Sub", number, 1.0)
    gaps = b.cast(b.emit("Max", last, 1.0), work)
    step = b.emit("Div", b.emit("Sub", stop, start), gaps)
    forward = b.emit("Add", start, b.emit("Mul", b.cast(places, work), step))
    behind = b.cast(b.emit("Sub", last, places), work)
    backward = b.emit("Sub", stop, b.emit("Mul", behind, step))
    half = b.emit("Less", places, b.emit("Div", number, 2.0))
    first = b.emit("Or", half, b.emit("Equal", number, 1.0))
    return b.cast(b.emit("Where", first, forward, backward), dtype)


def _logspace(c: Call) -> Tensor:
    """A base to the powers of a linspace."""
    powers = _linspace(c)
    return c.b.emit("Pow", c.b.cast(c.b.reshape(c.raw(3), [], []), powers.dtype), powers)


def _eye(c: Call) -> Tensor:
    b = c.b
    c.ignore("dtype")
    counts = [b.numbering(_count(c, at)) for at in (0, 1)]
    same = b.emit("Equal", b.unsqueeze(counts[0], [1]), b.unsqueeze(counts[1], [0]))
    return b.cast(same, wide(c.result().dtype))


def _count(c: Call, at: int) -> Tensor:
    return c.b.cast(c.b.reshape(c.raw(at), [], []), "int64")


def _triangle_indices(upper: bool) -> Lowering:
    def lower(c: Call) -> Tensor:
        import numpy as np

        c.ignore("dtype")
        rows, cols, offset = (
            int(c.attr(name, c.attr("rows", 0))) for name in ("rows", "cols" if not upper else "col", "offset")
        )
        make = np.triu_indices if upper else np.tril_indices
        return c.b.constant(np.stack(make(rows, offset, cols)), c.result().dtype)

    return lower


def _sequence_mask(c: Call) -> Tensor:
    """1 in the first x places of each row; without a length as many places as the largest x."""
    b, x = c.b, c.b.cast(c.raw(), "int64")
    c.ignore("out_dtype")
    longest = int(c.attr("maxlen", -1))
    if c.has(1):
        length = b.cast(b.reshape(c.raw(1), [], []), "int64")
        if length.array is not None and int(length.array) < 0:
            length = b.reduce("ReduceMax", x, None, keep=False)
    else:
        length = b.constant(longest) if longest > 0 else b.reduce("ReduceMax", x, None, keep=False)
    places = b.numbering(length, c.result().shape[-1])
    return b.cast(b.emit("Less", places, b.unsqueeze(x, [x.rank])), wide(c.result().dtype))


def _one_hot(c: Call) -> Tensor:
    b, x = c.b, c.b.cast(c.raw(), "int64")
    depth = b.cast(b.reshape(c.raw(1), [], []), "int64")
    dtype = wide(c.result().dtype)
    places = b.numbering(depth, c.result().shape[-1])
    return b.cast(b.emit("Equal", b.unsqueeze(x, [x.rank]), places), dtype)


def triangle(c: Call, upper: bool) -> Tensor:
    """Zero outside a triangle; where the diagonal lies is an attribute."""
    b, x = c.b, c.x()
    told = int(c.attr("diagonal"))
    rows, cols = (b.reshape(b.size_of(x, at), [], []) for at in (-2, -1))
    row, col = (b.numbering(size) for size in (rows, cols))
    ahead = b.emit("Sub", b.unsqueeze(col, [0]), b.unsqueeze(row, [1]))
    keep = b.emit("GreaterOrEqual" if upper else "LessOrEqual", ahead, b.constant(told))
    return b.emit("Where", keep, x, b.constant(0, x.dtype), shape=x.shape)


def _diag(c: Call) -> Tensor:
    """Of a vector a matrix with it on a diagonal, of a matrix its diagonal."""
    b, x, offset, padding = c.b, c.x(), int(c.attr("offset")), float(c.attr("padding_value"))
    if x.rank == 2:
        return diagonal(c, x, offset, 0, 1)
    matrix, on = embedded(b, x, offset)
    return b.emit("Where", on, matrix, b.constant(padding, x.dtype))


def embedded(b: Builder, x: Tensor, offset: int) -> tuple[Tensor, Tensor]:
    """The last dim on a diagonal of two new ones, and where that diagonal lies; elsewhere stand other numbers."""
    size = x.shape[-1]
    more = abs(offset)
    length = b.reshape(b.emit("Add", b.size_of(x, -1), b.constant([more])), [], [])
    places = b.numbering(length, size + more if size >= 0 else -1)
    row, col = b.unsqueeze(places, [1]), b.unsqueeze(places, [0])
    on = b.emit("Equal", b.emit("Sub", col, row), b.constant(offset))
    pads = b.constant([0] * (x.rank - 1) + [max(offset, 0)] + [0] * (x.rank - 1) + [max(-offset, 0)])
    padded = b.emit("Pad", x, pads, shape=[*x.shape[:-1], size + more if size >= 0 else -1])
    return b.unsqueeze(padded, [x.rank - 1]), on


def _diag_embed(c: Call) -> Tensor:
    b, x, offset = c.b, c.x(), int(c.attr("offset"))
    rank = x.rank + 1
    first, second = (int(c.attr(name)) % rank for name in ("dim1", "dim2"))
    if first > second:
        first, second, offset = second, first, -offset
    matrix, on = embedded(b, x, offset)
    made = b.emit("Where", on, matrix, b.constant(0, x.dtype))
    order = list(range(rank - 2))
    order.insert(first, rank - 2)
    order.insert(second, rank - 1)
    return b.transpose(made, order)


def diagonal(c: Call, x: Tensor, offset: int, axis1: int, axis2: int) -> Tensor:
    """The diagonal of two dims as the last one: every (columns + 1)th number of the plane, from its first one on."""
    b = c.b
    axis1, axis2 = axis1 % x.rank, axis2 % x.rank
    rest = [at for at in range(x.rank) if at not in (axis1, axis2)]
    x = b.transpose(x, [*rest, axis1, axis2])
    rows, cols = (b.reshape(b.size_of(x, at), [], []) for at in (-2, -1))
    sizes = [b.size_of(x, at) for at in range(len(rest))]
    target = b.concat([*sizes, b.emit("Mul", b.size_of(x, -2), b.size_of(x, -1))])
    flat = b.reshape(x, target, [*x.shape[:-2], -1])
    shorter = b.emit("Min", b.emit("Add", rows, float(min(offset, 0))), b.emit("Sub", cols, float(max(offset, 0))))
    length = b.emit("Max", shorter, 0.0)
    start = b.constant(offset) if offset >= 0 else b.emit("Mul", cols, float(-offset))
    counted = b.numbering(length, c.result().shape[-1] if rest else -1)
    places = b.emit("Add", b.emit("Mul", counted, b.emit("Add", cols, 1.0)), start)
    return b.emit("Gather", flat, places, axis=len(rest), shape=[*x.shape[:-2], -1])


def _diagonal(c: Call) -> Tensor:
    return diagonal(c, c.x(), int(c.attr("offset")), int(c.attr("axis1")), int(c.attr("axis2")))


def _trace(c: Call) -> Tensor:
    b = c.b
    x = b.cast(c.raw(), wide(c.result().dtype))
    line = diagonal(c, x, int(c.attr("offset")), int(c.attr("axis1")), int(c.attr("axis2")))
    return b.reduce("ReduceSum", line, [-1], keep=False)


OPERATORS: dict[str, Lowering] = {
    "full": _full,
    "full_int_array": _full_int_array,
    "assign_value": _assign_value,
    "assign_value_": _assign_value,
    "full_with_tensor": _full_with_tensor,
    "full_like": _full_like,
    "full_batch_size_like": _full_batch_size_like,
    "empty": _empty,
    "arange": _arange,
    "linspace": _linspace,
    "logspace": _logspace,
    "eye": _eye,
    "tril_indices": _triangle_indices(upper=False),
    "triu_indices": _triangle_indices(upper=True),
    "sequence_mask": _sequence_mask,
    "one_hot": _one_hot,
    "tril": lambda c: triangle(c, upper=False),
    "triu": lambda c: triangle(c, upper=True),
    "diag": _diag,
    "diag_embed": _diag_embed,
    "diagonal": _diagonal,
    "trace": _trace,
}
