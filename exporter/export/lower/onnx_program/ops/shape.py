"""What moves elements and changes sizes, and no number."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Pair, Tensor

_FAR = sys.maxsize


def _same(c: Call) -> Tensor:
    return c.b.emit("Identity", c.raw())


def _cast(c: Call) -> Tensor | Pair:
    """From a float to a narrow integer by way of int32, as a C cast goes; to complex with an imaginary part of 0."""
    c.ignore("dtype")
    x, dtype = c.raw(), c.result().dtype
    if dtype in FLOATS_OF:
        real = c.b.cast(x, FLOATS_OF[dtype])
        return Pair(real, c.b.expand(c.b.constant(0.0, real.dtype), c.b.shape_of(real), real.shape))
    return converted(c.b, x, dtype)


def converted(b: Builder, x: Tensor, dtype: str) -> Tensor:
    """Of a real dtype as another one, a new value in any case."""
    if x.is_float and dtype in ("int8", "uint8", "int16"):
        x = b.cast(x, "int32")
    return b.cast(x, dtype) if x.dtype != dtype else b.emit("Identity", x)


def _reshape(c: Call) -> Tensor:
    """A 0 copies the size, in Paddle as in ONNX."""
    x, declared = c.raw(), c.result().shape
    if c.known(1):
        return c.b.reshape(x, c.integers(1), declared)
    return c.b.emit("Reshape", x, c.vector(1), shape=declared)


def _flatten(c: Call) -> Tensor:
    b, x = c.b, c.raw()
    first, last = (int(c.attr(name)) % max(x.rank, 1) for name in ("start_axis", "stop_axis"))
    if not x.rank:
        return b.reshape(x, [1])
    behind = list(x.shape[last + 1 :])
    if -1 not in behind:
        return b.reshape(x, [0] * first + [-1, *behind], c.result().shape)
    sizes = [b.size_of(x, at) for at in range(x.rank)]
    target = b.concat([*sizes[:first], b.constant([-1]), *sizes[last + 1 :]])
    return b.reshape(x, target, c.result().shape)


def _squeeze(c: Call) -> Tensor:
    """Of the axes only those of size 1 go; without axes all that are."""
    x = c.raw()
    asked = {axis % x.rank for axis in c.integers(1)} if x.rank else set()
    named = sorted(asked or range(x.rank))
    axes = [axis for axis in named if x.shape[axis] == 1]
    if x.rank - len(axes) != len(c.result().shape):
        axes = [axis for axis in named if x.shape[axis] in (1, -1)]
    if x.rank - len(axes) != len(c.result().shape):
        raise c.refuse("which dims have size 1 is not known before the model runs")
    if axes and axes == [*range(2, x.rank)] and all(x.shape[axis] == 1 for axis in axes):
        return c.b.emit("Flatten", x, shape=x.shape[:2], axis=1)  # OpenCV 4.14 takes one axis of a Squeeze alone
    return c.b.squeeze(x, axes) if axes else c.b.emit("Identity", x)


def unsqueezed_at(axes: Sequence[int], rank: int) -> list[int]:
    """Places of the new dims in the result: Paddle puts in one after the other."""
    dims: list[bool] = [False] * rank
    for axis in axes:
        dims.insert(axis if axis >= 0 else axis + len(dims) + 1, True)
    return [at for at, new in enumerate(dims) if new]


def _unsqueeze(c: Call) -> Tensor:
    x = c.raw()
    return c.b.unsqueeze(x, unsqueezed_at(c.integers(1), x.rank))


def _transpose(c: Call) -> Tensor:
    x = c.raw()
    found = c.b.transpose(x, c.attr("perm"))
    return found if found is not x else c.b.emit("Identity", x)


def _concat(c: Call) -> Tensor:
    parts, axis = c.xs(0), c.integers(1)[0]
    found = c.b.concat(parts, axis % parts[0].rank)
    return found if len(parts) > 1 else c.b.emit("Identity", found)


def _stack(c: Call) -> Tensor:
    parts, axis = c.xs(), int(c.attr("axis"))
    rank = parts[0].rank + 1
    if all(part.array is not None and not part.rank for part in parts) and parts[0].dtype == "int64":
        return c.b.constant(c.integers(0))
    found = c.b.concat([c.b.unsqueeze(part, [axis % rank]) for part in parts], axis % rank)
    return found


def split(c: Call, x: Tensor, sizes: Sequence[int], axis: int) -> tuple[Tensor, ...]:
    """Parts of known sizes."""
    b, axis = c.b, axis % x.rank
    if len(sizes) == 1:
        return (b.emit("Identity", x),)
    shapes = [tuple(size if at == axis else whole for at, whole in enumerate(x.shape)) for size in sizes]
    return tuple(b.many("Split", x, b.constant(list(sizes)), shapes=shapes, axis=axis))


def _split(c: Call) -> list[tuple[Tensor, ...]]:
    """Parts of sizes that may be computed; -1 is what the others leave."""
    x, axis = c.raw(), c.integers(2)[0]
    whole = x.shape[axis % x.rank]
    if not c.known(1) or (whole < 0 and -1 in c.integers(1)):
        return [_split_by(c, x, c.vector(1), axis % x.rank)]
    sizes = c.integers(1)
    rest = whole - sum(size for size in sizes if size >= 0)
    return [split(c, x, [rest if size < 0 else size for size in sizes], axis)]


def _split_by(c: Call, x: Tensor, sizes: Tensor, axis: int) -> tuple[Tensor, ...]:
    """Parts whose sizes are known when the model runs; how many there are is known."""
    b, number = c.b, sizes.shape[0]
    if number < 0:
        raise c.refuse("how many tensors come out is not known before the model runs")
    if number == 1:
        return (b.emit("Identity", x),)
    left = b.emit("Sub", b.size_of(x, axis), b.emit("Add", b.reduce("ReduceSum", sizes, [0], keep=True), 1))
    sizes = b.emit("Where", b.emit("Less", sizes, 0.0), left, sizes)
    shape = (*x.shape[:axis], -1, *x.shape[axis + 1 :])
    return tuple(b.many("Split", x, sizes, shapes=[shape] * number, axis=axis))


def _split_with_num(c: Call) -> list[tuple[Tensor, ...]]:
    b, x, number = c.b, c.raw(), int(c.attr("num"))
    axis = c.integers(1)[0] % x.rank
    whole = x.shape[axis]
    if whole >= 0:
        return [split(c, x, [whole // number] * number, axis)]
    shapes = [x.shape] * number
    if number == 1:
        return [(b.emit("Identity", x),)]
    flags = {"num_outputs": number} if b.opset >= 18 else {}
    return [tuple(b.many("Split", x, shapes=shapes, axis=axis, **flags))]


def _unbind(c: Call) -> list[tuple[Tensor, ...]]:
    x = c.raw()
    axis = int(c.attr("axis")) % x.rank
    number = int(c.attr("num", x.shape[axis]))
    if number < 0:
        raise c.refuse("how many tensors come out is not known before the model runs")
    return [tuple(c.b.squeeze(part, [axis]) for part in split(c, x, [1] * number, axis))]


def _expand(c: Call) -> Tensor:
    """-1 keeps a size; ONNX's 1 does the same."""
    x = c.x()
    if c.known(1):
        sizes = c.b.constant([1 if size == -1 else size for size in c.integers(1)])
    else:
        given = c.vector(1)
        sizes = c.b.emit("Where", c.b.emit("Less", given, 0.0), c.b.constant(1), given)
    return c.b.expand(x, sizes, c.result().shape)


def _expand_as(c: Call) -> Tensor:
    x = c.x()
    target = c.attr("target_shape", [])
    sizes = c.b.shape_of(c.raw(1)) if c.has(1) else c.b.constant([1 if size == -1 else size for size in target])
    return c.b.expand(x, sizes, c.result().shape)


def _broadcast_tensors(c: Call) -> list[tuple[Tensor, ...]]:
    """Each with zeros of the common size added, but for values: expanded to the size of them all."""
    b, parts = c.b, c.xs()
    zeros = [b.expand(b.constant(0, "int32"), b.shape_of(part), part.shape) for part in parts]
    common = zeros[0]
    for more in zeros[1:]:
        common = b.emit("Add", common, more)
    sizes = b.shape_of(common)
    return [tuple(b.expand(part, sizes, common.shape) for part in parts)]


def _tile(c: Call) -> Tensor:
    b, x, times = c.b, c.x(), c.vector(1)
    rank = len(c.result().shape)
    if times.rank != 1 or times.shape[0] < 0:
        raise c.refuse("how many dims are repeated is not known before the model runs")
    if times.shape[0] < rank:
        times = b.concat([b.constant([1] * (rank - times.shape[0])), times])
    x = b.unsqueeze(x, list(range(rank - x.rank)))
    return b.emit("Tile", x, times, shape=c.result().shape) if rank else b.emit("Identity", x)


def flip(b: Builder, x: Tensor, axes: Sequence[int]) -> Tensor:
    """Turn round along axes."""
    listed = [axis % x.rank for axis in axes]
    bounds = ([-1] * len(listed), [-_FAR] * len(listed), listed, [-1] * len(listed))
    return b.emit("Slice", x, *(b.constant(one) for one in bounds), shape=x.shape)


def _flip(c: Call) -> Tensor:
    x, axes = c.x(), c.attr("axis")
    return flip(c.b, x, axes) if axes and x.rank else c.b.emit("Identity", x)


def _roll(c: Call) -> Tensor:
    """Cut at -shift modulo the size, and put both parts together the other way round."""
    b, x, axes = c.b, c.x(), list(c.attr("axis"))
    shifts, flat = c.vector(1), not axes
    before = x
    if flat:
        x, axes = b.reshape(x, [-1]), [0]
    for at, axis in enumerate(axes):
        shift = b.slice(shifts, [at], [at + 1], [0]) if len(axes) > 1 else shifts
        place = b.emit("Mod", b.emit("Neg", shift), b.size_of(x, axis), shape=[1])
        along = b.constant([axis % x.rank])
        parts = [
            b.emit("Slice", x, place, b.constant([_FAR]), along, shape=x.shape),
            b.emit("Slice", x, b.constant([0]), place, along, shape=x.shape),
        ]
        x = b.emit("Concat", *parts, axis=axis % x.rank, shape=x.shape)
    return b.reshape(x, b.shape_of(before), before.shape) if flat else x


def _slice(c: Call) -> Tensor:
    b, x, axes = c.b, c.raw(), [int(axis) for axis in c.attr("axes")]
    c.ignore("infer_flags")
    gone = [axis % x.rank for axis in c.attr("decrease_axis")]
    kept = list(c.result().shape)
    if c.known(1) and c.known(2):
        cut = b.slice(x, c.integers(1), c.integers(2), axes)
    else:
        sizes = iter(kept)
        shape = [1 if at in gone else next(sizes, -1) for at in range(x.rank)]
        ends = c.vector(2)
        if gone and c.known(2) is False:
            ends = _ends(b, c.vector(1), ends)
        cut = b.emit("Slice", x, c.vector(1), ends, b.constant(axes), shape=shape)
    return b.squeeze(cut, gone) if gone else cut


def _ends(b: Builder, starts: Tensor, ends: Tensor) -> Tensor:
    """An end of 0 behind a start of -1 means the end of the dim (`x[-1]`; Paddle, 3.3.1)."""
    last = b.emit("And", b.emit("Equal", starts, -1.0), b.emit("Equal", ends, 0.0))
    return b.emit("Where", last, b.constant(_FAR), ends)


def _strided_slice(c: Call) -> Tensor:
    axes = [int(axis) for axis in c.attr("axes")]
    bounds = [c.vector(at) for at in (1, 2)]
    return c.b.emit("Slice", c.x(), *bounds, c.b.constant(axes), c.vector(3), shape=c.result().shape)


def _meshgrid(c: Call) -> list[tuple[Tensor, ...]]:
    b, parts = c.b, [b_part for b_part in c.xs()]
    flat = [b.reshape(part, [-1]) for part in parts]
    sizes = b.concat([b.size_of(part, 0) for part in flat])
    shape = [part.shape[0] for part in flat]
    rank = len(flat)
    lifted = [b.unsqueeze(part, [other for other in range(rank) if other != at]) for at, part in enumerate(flat)]
    return [tuple(b.expand(part, sizes, shape) for part in lifted)]


def _shape(c: Call) -> Tensor:
    x = c.raw()
    return c.b.emit("Shape", x, shape=[x.rank])


OPERATORS: dict[str, Lowering] = {
    **dict.fromkeys(("assign", "conj"), _same),  # of real numbers
    "share_data_": _same,
    **dict.fromkeys(("memcpy", "memcpy_h2d", "memcpy_d2h"), _same),
    "cast": _cast,
    "reshape": _reshape,
    "flatten": _flatten,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "transpose": _transpose,
    "concat": _concat,
    "stack": _stack,
    "split": _split,
    "split_with_num": _split_with_num,
    "unbind": _unbind,
    "unstack": _unbind,
    "expand": _expand,
    "expand_as": _expand_as,
    "broadcast_tensors": _broadcast_tensors,
    "tile": _tile,
    "flip": _flip,
    "roll": _roll,
    "slice": _slice,
    "strided_slice": _strided_slice,
    "meshgrid": _meshgrid,
    "shape": _shape,
    "shape64": _shape,
}
