"""Pools. ONNX has no adaptive one.

Its window i of `out` over `size` elements is [floor(i * size / out), ceil((i + 1) * size / out)) (phi's pooling.h,
3.3.1): the average is a product with a matrix of 1 / length, the largest is taken over gathered elements. Both also
where the size varies, and where the program computes how many windows there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import doubles
from exporter.export.lower.onnx_program.ops.binary import floor_div
from exporter.export.lower.onnx_program.ops.conv import Padding, first, last, layout, padding, same
from exporter.export.lower.onnx_program.ops.linear import product

#: How many windows there are along a dim: a number, or a vector of one element that the program computes.
Windows: TypeAlias = "int | Tensor"


def _pool(c: Call) -> Tensor:
    average = c.insist("pooling_type", "max", "avg") == "avg"
    behind = layout(c)
    x = first(c.b, c.x(0)) if behind else c.x(0)
    if c.attr("adaptive"):
        c.ignore("strides", "paddings", "ceil_mode", "exclusive", "global_pooling", "padding_algorithm")
        pooled = adaptive(c.b, x, _wanted(c, x.rank - 2), average)
    elif c.attr("global_pooling"):
        c.ignore("strides", "paddings", "ceil_mode", "exclusive", "padding_algorithm", "kernel_size")
        c.idle(1)
        pooled = adaptive(c.b, x, [1] * (x.rank - 2), average)
    else:
        kernel = c.integers(1) if len(c) > 1 else [int(size) for size in c.attr("kernel_size")]
        pooled = _ordinary(c, x, kernel, average)
    return last(c.b, pooled) if behind else pooled


def _wanted(c: Call, dims: int) -> list[Windows]:
    if len(c) < 2:
        return [int(size) for size in c.attr("kernel_size")]
    if c.known(1):
        return list(c.integers(1))
    sizes = c.vector(1)
    return [c.b.slice(sizes, [at], [at + 1], [0]) for at in range(dims)]


def _ordinary(c: Call, x: Tensor, kernel: list[int], average: bool) -> Tensor:
    margins = padding(c, x.rank - 2)
    counts = not c.attr("exclusive")
    strides = [int(step) for step in c.attr("strides")]
    if average and (counts or x.dtype == "float64"):
        margins = margins if "pads" in margins else {"pads": same(c, x, kernel, strides)}
    if average and counts:
        return _counting(c, x, kernel, margins["pads"])
    settings = _settings(c, x, kernel, margins)
    if average and x.dtype == "float64":
        ends = [step - 1 if "ceil_mode" in settings else 0 for step in strides]  # a step more makes one window more
        pads = [pad + more for pad, more in zip(settings["pads"], [*[0] * len(ends), *ends], strict=True)]
        return doubles.average_pool(c.b, x, kernel, strides, pads, counts=False)
    return c.b.emit("AveragePool" if average else "MaxPool", x, **settings, shape=_open(x))


def _counting(c: Call, x: Tensor, kernel: list[int], pads: list[int]) -> Tensor:
    """An average that counts padding. ONNX divides by all of a window, Paddle by what lies in [-begin, size + begin).

    So Paddle counts as much padding at the end as there is at the beginning, and nothing that rounding up adds (phi's
    pooling.cc; measured on 3.3.1). The padding is not made elements by a `Pad`: ONNX Runtime 1.31 fuses that with the
    pool, and then loses the windows that rounding up adds.
    """
    b, dims = c.b, x.rank - 2
    steps = [int(step) for step in c.attr("strides")]
    begins, ends = pads[:dims], list(pads[dims:])
    if c.attr("ceil_mode"):
        for at in range(dims):
            ends[at] += _rounding(c, x.shape[2 + at], (kernel[at], steps[at]), (begins[at], ends[at]))
    if x.dtype == "float64":
        pooled = doubles.average_pool(b, x, kernel, steps, [*begins, *ends], counts=True)
    else:
        pooled = b.emit(
            "AveragePool", x, kernel_shape=kernel, strides=steps, pads=[*begins, *ends], count_include_pad=1,
            shape=_open(x),
        )  # fmt: skip
    for at in range(dims):
        if ends[at] > begins[at]:
            counts = _counts(b, pooled, x, at, (kernel[at], steps[at], begins[at]))
            share = b.emit("Div", b.constant(kernel[at], x.dtype), b.cast(counts, x.dtype))
            pooled = b.emit("Mul", pooled, b.unsqueeze(share, list(range(1, dims - at))), shape=pooled.shape)
    return pooled


def _counts(b: Builder, made: Tensor, x: Tensor, at: int, window: tuple[int, int, int]) -> Tensor:
    """How many places of each window of a spatial dim count; `window` is its length, step, and padding before it."""
    import numpy as np

    length, step, begin = window
    if (size := x.shape[2 + at]) >= 0 and (windows := made.shape[2 + at]) >= 0:
        starts = np.arange(windows) * step - begin
        return b.constant(np.minimum(starts + length, size + begin) - starts)
    places = b.numbering(b.reshape(b.size_of(made, 2 + at), [], []))
    begun = b.emit("Sub", b.emit("Mul", places, b.constant(step)), b.constant(begin))
    last_place = b.emit("Add", b.size_of(x, 2 + at), b.constant(begin))
    return b.emit("Sub", b.emit("Min", b.emit("Add", begun, b.constant(length)), last_place), begun)


def _open(x: Tensor) -> list[int]:
    return [*x.shape[:2], *[-1] * (x.rank - 2)]


def _rounding(c: Call, size: int, window: tuple[int, int], pads: tuple[int, int]) -> int:
    """The padding at the end that rounds the number of windows up: a step less one where the size is not known."""
    length, step = window
    whole = size + sum(pads)
    windows = -(-(whole - length) // step) + 1
    more = step - 1 if size < 0 else max((windows - 1) * step + length - whole, 0)
    if pads[1] + more >= length:
        raise c.refuse("ceil_mode with a window that lies in the padding alone")
    return more


def _settings(c: Call, x: Tensor, kernel: list[int], margins: Padding) -> dict[str, Any]:
    """Kernel, strides and padding. Rounding up is written as more padding at the end of known sizes."""
    dims = x.rank - 2
    strides = [int(step) for step in c.attr("strides")]
    settings = {"kernel_shape": kernel, "strides": strides, **margins}
    if not c.attr("ceil_mode") or "auto_pad" in settings:
        return settings
    begins, ends = margins["pads"][:dims], list(margins["pads"][dims:])
    sizes = x.shape[2:]
    if -1 in sizes:
        if any(begin + step > size for begin, step, size in zip(begins, strides, kernel, strict=True)):
            raise c.refuse("ceil_mode of sizes that vary, with windows that lie in the padding alone")
        return {**settings, "ceil_mode": 1}
    for at, (size, reach, step) in enumerate(zip(sizes, kernel, strides, strict=True)):
        ends[at] += _rounding(c, size, (reach, step), (begins[at], ends[at]))
    return {**settings, "pads": [*begins, *ends]}


def adaptive(b: Builder, x: Tensor, wanted: Sequence[Windows], average: bool) -> Tensor:
    """To a size: -1 keeps the input's."""
    sizes = x.shape[2:]
    targets = [size if out == -1 else out for out, size in zip(wanted, sizes, strict=True) if isinstance(out, int)]
    if len(targets) == len(sizes):
        if all(out == 1 for out in targets):
            return doubles.global_pool(b, x, average)
        if all(size > 0 and size % out == 0 for out, size in zip(targets, sizes, strict=True)):
            steps = [size // out for out, size in zip(targets, sizes, strict=True)]
            if average and x.dtype == "float64":
                return doubles.average_pool(b, x, steps, steps, [0] * 2 * len(steps), counts=False)
            kind = "AveragePool" if average else "MaxPool"
            return b.emit(kind, x, kernel_shape=steps, strides=steps, shape=[*x.shape[:2], *targets])
    for at, out in enumerate(wanted):
        if isinstance(out, Tensor) or out not in (-1, sizes[at]):
            x = _averaged(b, x, 2 + at, out) if average else _largest(b, x, 2 + at, out)
    return x


def _bounds(b: Builder, x: Tensor, axis: int, out: Windows) -> tuple[Tensor, Tensor]:
    """Return the start and the end of each window along an axis: two tensors of shape [out]."""
    import numpy as np

    count = out if isinstance(out, Tensor) else b.constant([out])
    places = b.places(count)
    if x.shape[axis] >= 0 and isinstance(out, int):
        size, numbers = x.shape[axis], np.arange(out)
        return b.constant(numbers * size // out), b.constant(-(-(numbers + 1) * size // out))
    size_now = b.size_of(x, axis)
    begun = b.emit("Mul", places, size_now)
    starts = floor_div(b, begun, count)
    above = b.emit("Add", b.emit("Add", begun, size_now), b.emit("Sub", count, 1))
    return starts, floor_div(b, above, count)


def _to_end(x: Tensor, axis: int) -> tuple[list[int], list[int]]:
    order = [at for at in range(x.rank) if at != axis] + [axis]
    return order, [order.index(at) for at in range(x.rank)]


def _averaged(b: Builder, x: Tensor, axis: int, out: Windows) -> Tensor:
    order, back = _to_end(x, axis)
    return b.transpose(product(b, b.transpose(x, order), _shares(b, x, axis, out)), back)


def _shares(b: Builder, x: Tensor, axis: int, out: Windows) -> Tensor:
    """How much each element along the axis counts in each window; a constant where the size is known."""
    import numpy as np

    starts, ends = _bounds(b, x, axis, out)
    if starts.array is not None and ends.array is not None:
        rows = np.arange(x.shape[axis])[:, None]
        inside = ((rows >= starts.array) & (rows < ends.array)).astype(x.dtype)
        return b.constant(inside / (ends.array - starts.array).astype(x.dtype), x.dtype)
    length = b.reshape(b.size_of(x, axis), [], [])
    places = b.unsqueeze(b.numbering(length, x.shape[axis]), [1])
    within = b.emit("And", b.emit("GreaterOrEqual", places, starts), b.emit("Less", places, ends))
    return b.emit("Div", b.cast(within, x.dtype), b.cast(b.emit("Sub", ends, starts), x.dtype))


def _largest(b: Builder, x: Tensor, axis: int, out: Windows) -> Tensor:
    """Each window's elements side by side, its last one repeated up to the longest window's length."""
    starts, ends = _bounds(b, x, axis, out)
    longest = b.reduce("ReduceMax", b.emit("Sub", ends, starts), None, keep=False)
    steps = b.numbering(longest)
    index = b.emit("Min", b.emit("Add", b.unsqueeze(starts, [1]), steps), b.emit("Sub", b.unsqueeze(ends, [1]), 1.0))
    order, back = _to_end(x, axis)
    turned = b.transpose(x, order)
    taken = b.emit("Gather", turned, index, axis=x.rank - 1, shape=[*turned.shape[:-1], *starts.shape, -1])
    return b.transpose(b.reduce("ReduceMax", taken, [-1], keep=False), back)


def _with_index(c: Call) -> list[Tensor | None]:
    """The place is that in the plane; ONNX counts through the whole tensor."""
    b, x = c.b, c.x(0)
    dims = x.rank - 2
    kernel = [int(length) for length in c.attr("kernel_size")]
    if c.attr("global_pooling") or c.attr("adaptive"):
        sizes = x.shape[2:]
        c.ignore("strides", "paddings", "ceil_mode", "padding_algorithm", "global_pooling")
        wanted = kernel if c.attr("adaptive") else [1] * dims
        if not c.wants(1):
            return [adaptive(b, x, wanted, average=False), None]
        targets = [size if out == -1 else out for out, size in zip(wanted, sizes, strict=True)]
        if any(size < 0 or size % out for out, size in zip(targets, sizes, strict=True)):
            return list(_windows_with_index(c, x, targets))
        steps = [size // out for out, size in zip(targets, sizes, strict=True)]
        settings = {"kernel_shape": steps, "strides": steps}
    else:
        settings = _settings(c, x, kernel, padding(c, dims))
    values, places = b.many("MaxPool", x, shapes=[tuple(_open(x))] * 2, **settings)
    plane = b.size_of(x, 2)
    for at in range(3, x.rank):
        plane = b.emit("Mul", plane, b.size_of(x, at))
    index = Tensor(places.name, "int64", places.shape)
    return [values, b.emit("Mod", index, plane, shape=index.shape)]


def _windows_with_index(c: Call, x: Tensor, targets: list[int]) -> tuple[Tensor, Tensor]:
    """The largest of windows of different lengths, and its place; the last element stands for those beyond the end."""
    import numpy as np

    b, sizes = c.b, x.shape[2:]
    if -1 in sizes:
        raise c.refuse("places of an adaptive pool of sizes that vary are not written")
    rows = []
    for size, out in zip(sizes, targets, strict=True):
        places = np.arange(out)
        starts, ends = places * size // out, -(-(places + 1) * size // out)
        rows.append(np.minimum(starts[:, None] + np.arange((ends - starts).max()), ends[:, None] - 1))
    dims = len(rows)
    flat = np.zeros([1] * (2 * dims), "int64")
    for at, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        shape = [1] * (2 * dims)
        shape[at], shape[dims + at] = row.shape
        flat = flat * size + row.reshape(shape)
    reach = int(np.prod([row.shape[1] for row in rows]))
    flat = np.broadcast_to(flat, [*targets, *(row.shape[1] for row in rows)]).reshape(*targets, reach)
    plane = b.reshape(x, [0, 0, -1], [*x.shape[:2], int(np.prod(sizes))])
    taken = b.emit("Gather", plane, b.constant(flat), axis=2, shape=[*x.shape[:2], *flat.shape])
    best = b.emit("ArgMax", taken, axis=taken.rank - 1, keepdims=1, shape=[*taken.shape[:-1], 1])
    values = b.squeeze(b.emit("GatherElements", taken, best, axis=taken.rank - 1, shape=best.shape), [-1])
    every = b.expand(b.constant(flat), b.shape_of(taken), taken.shape)
    where = b.squeeze(b.emit("GatherElements", every, best, axis=taken.rank - 1, shape=best.shape), [-1])
    return values, where


def _unpool(c: Call) -> Tensor:
    """Values at their places in planes of zeros."""
    b, x = c.b, c.x(0)
    index = b.cast(c.raw(1), "int64")
    c.ignore("ksize", "strides", "padding", "paddings", "data_format")
    fixed = c.attr("output_size", None)
    if fixed is not None:
        sizes = b.constant([int(size) for size in fixed][-(x.rank - 2) :])
    else:
        vector = c.vector(2)
        sizes = b.slice(vector, [-(x.rank - 2)], [1 << 30], [0])
    batch = [b.size_of(x, 0), b.size_of(x, 1)]
    plane = b.reduce("ReduceProd", sizes, [0], keep=True)
    zeros = b.expand(b.constant(0, x.dtype), b.concat([*batch, plane]), [*x.shape[:2], -1])
    flat, places = (b.reshape(flattened, [0, 0, -1]) for flattened in (x, index))
    filled = b.emit("ScatterElements", zeros, places, flat, axis=2, shape=zeros.shape)
    return b.reshape(filled, b.concat([*batch, sizes]), c.result().shape)


def _lp_pool(c: Call) -> Tensor:
    """(Sum of powers of a window) ** (1 / p). ONNX takes powers of sizes, and Paddle of the numbers as they are."""
    b, x = c.b, c.x(0)
    kernel = c.integers(1) if len(c) > 1 else [int(size) for size in c.attr("kernel_size")]
    c.insist("adaptive", False)
    c.insist("global_pooling", False)
    c.insist("ceil_mode", False)
    c.ignore("exclusive", "pooling_type")
    order = float(c.attr("norm_type"))
    if layout(c) or not math.isfinite(order):
        raise c.refuse("channels last, or an order that is infinite, is not written")
    if x.dtype == "float64":
        raise c.refuse("Paddle computes the powers of float64 in float32; cast the tensor to float32")
    strides, margins = [int(stride) for stride in c.attr("strides")], padding(c, x.rank - 2)
    if order % 2 == 0 and order:
        return b.emit("LpPool", x, kernel_shape=kernel, strides=strides, **margins, p=int(order), shape=_open(x))
    powers = b.emit("Pow", x, b.constant(order, x.dtype), shape=x.shape)
    means = b.emit(
        "AveragePool", powers, kernel_shape=kernel, strides=strides, **margins, count_include_pad=1, shape=_open(x)
    )
    total = b.emit("Mul", means, float(math.prod(kernel)), shape=means.shape)
    return b.emit("Pow", total, b.constant(1 / order, x.dtype), shape=means.shape)


OPERATORS: dict[str, Lowering] = {
    "pool2d": _pool,
    "pool3d": _pool,
    "max_pool2d_with_index": _with_index,
    "max_pool3d_with_index": _with_index,
    "unpool": _unpool,
    "unpool3d": _unpool,
    "lp_pool2d": _lp_pool,
}
