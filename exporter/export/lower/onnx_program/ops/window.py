"""Padding, shuffles, windows, and sampling between places."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import doubles
from exporter.export.lower.onnx_program.ops.conv import first, last, layout

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


def _pad(c: Call) -> Tensor:
    """Begin and end of each dim in turn."""
    x, amounts = c.x(0), [int(amount) for amount in c.attr("paddings")]
    value = (
        c.b.reshape(c.b.cast(c.raw(1), x.dtype), [], []) if c.has(1) else c.b.constant(c.attr("pad_value", 0), x.dtype)
    )
    return c.b.emit("Pad", x, c.b.constant([*amounts[::2], *amounts[1::2]]), value, shape=c.result().shape)


def _pad3d(c: Call) -> Tensor:
    """Begin and end of the last dim first, then of those before it."""
    b, x, behind = c.b, c.x(0), layout(c, "NCDHW")
    axes = [3, 2, 1] if behind else [4, 3, 2]
    mode = c.insist("mode", *_MODES, "circular")
    value = b.constant(c.attr("pad_value", 0.0), x.dtype)
    if mode == "circular":
        return _circular(c, x, axes)
    paddings = c.vector(1)
    order = [6] * 10  # the seventh number is a zero
    for at, axis in enumerate(axes):
        order[axis], order[5 + axis] = 2 * at, 2 * at + 1
    amounts = b.emit("Gather", b.concat([paddings, b.constant([0])]), b.constant(order), axis=0, shape=[10])
    fill = value if mode == "constant" else None
    return b.emit("Pad", x, amounts, fill, mode=_MODES[mode], shape=c.result().shape)


def _circular(c: Call, x: Tensor, axes: list[int]) -> Tensor:
    b, amounts = c.b, c.integers(1)
    for at, axis in enumerate(axes):
        begin, end = amounts[2 * at : 2 * at + 2]
        if min(begin, end) < 0:
            raise c.refuse("a negative circular padding is not written")
        parts = [b.slice(x, [-begin], [1 << 40], [axis])] if begin else []
        parts += [x]
        parts += [b.slice(x, [0], [end], [axis])] if end else []
        x = b.concat(parts, axis)
    return x


def _pixel_shuffle(c: Call) -> Tensor:
    b, behind, factor = c.b, layout(c), int(c.attr("upscale_factor"))
    x = first(b, c.x()) if behind else c.x()
    n, channels, high, wide = x.shape
    shape = [n, channels // factor**2, high * factor if high > 0 else -1, wide * factor if wide > 0 else -1]
    shuffled = b.emit("DepthToSpace", x, blocksize=factor, mode="CRD", shape=shape)
    return last(b, shuffled) if behind else shuffled


def _pixel_unshuffle(c: Call) -> Tensor:
    """[n, c, h f, w f] -> [n, c f f, h, w], the places of one channel together."""
    b, behind, factor = c.b, layout(c), int(c.attr("downscale_factor"))
    x = first(b, c.x()) if behind else c.x()
    _, channels, high, wide = x.shape
    if min(high, wide) < 0:
        raise c.refuse("sizes that vary are not divided")
    split = b.reshape(x, [0, channels, high // factor, factor, wide // factor, factor])
    turned = b.transpose(split, [0, 1, 3, 5, 2, 4])
    unshuffled = b.reshape(turned, [0, channels * factor**2, high // factor, wide // factor])
    return last(b, unshuffled) if behind else unshuffled


def _channel_shuffle(c: Call) -> Tensor:
    b, behind, groups = c.b, layout(c), int(c.attr("groups"))
    x = first(b, c.x()) if behind else c.x()
    split = b.reshape(x, [0, groups, x.shape[1] // groups, -1])
    shuffled = b.reshape(b.transpose(split, [0, 2, 1, 3]), b.shape_of(x), x.shape)
    return last(b, shuffled) if behind else shuffled


def _temporal_shift(c: Call) -> Tensor:
    """The first channels from the segment before, the next from the one behind; beyond the ends stand zeros."""
    b, behind, segments, ratio = c.b, layout(c), int(c.attr("seg_num")), float(c.attr("shift_ratio"))
    x = first(b, c.x()) if behind else c.x()
    channels = x.shape[1]
    end_before, end_behind = int(channels * ratio), int(channels * 2 * ratio)
    sizes = b.concat([b.constant([-1, segments]), *(b.size_of(x, axis) for axis in range(1, x.rank))])
    five = b.reshape(x, sizes, [-1, segments, *x.shape[1:]])
    padded = b.emit("Pad", five, b.constant([0, 1, 0, 0, 0, 0, 1, 0, 0, 0]), shape=five.shape)
    parts = [
        b.slice(padded, [0, 0], [segments, end_before], [1, 2]),
        b.slice(padded, [2, end_before], [segments + 2, end_behind], [1, 2]),
        b.slice(padded, [1, end_behind], [segments + 1, channels], [1, 2]),
    ]
    shifted = b.reshape(b.emit("Concat", *parts, axis=2, shape=five.shape), b.shape_of(x), x.shape)
    return last(b, shifted) if behind else shifted


def _unfold(c: Call) -> Tensor:
    """Each window as a column: a convolution with kernels that hold one 1 each."""
    b, x = c.b, c.x()
    kernel, strides, dilations = (
        [int(number) for number in c.attr(name)] for name in ("kernel_sizes", "strides", "dilations")
    )
    paddings = [int(number) for number in c.attr("paddings")]
    channels, taps = x.shape[1], math.prod(kernel)
    weight = _single_taps(b, channels, kernel, x.dtype)
    if x.dtype == "float64":
        columns = doubles.convolution(b, x, weight, doubles.Window(strides, dilations, paddings, channels))
    else:
        columns = b.emit(
            "Conv", x, weight, kernel_shape=kernel, strides=strides, dilations=dilations, pads=paddings,
            group=channels, shape=[x.shape[0], channels * taps, -1, -1],
        )  # fmt: skip
    return b.reshape(columns, [0, channels * taps, -1])


def _single_taps(b: Builder, channels: int, kernel: list[int], dtype: str) -> Tensor:
    import numpy as np

    taps = math.prod(kernel)
    return b.constant(np.tile(np.eye(taps).reshape(taps, 1, *kernel), (channels, 1, 1, 1)), dtype)


def _fold(c: Call) -> Tensor:
    """Columns added up where they overlap: a transposed convolution with kernels that hold one 1 each."""
    b, x = c.b, c.x()
    out, kernel, strides, dilations = (
        [int(number) for number in c.attr(name)] for name in ("output_sizes", "kernel_sizes", "strides", "dilations")
    )
    top, left, bottom, right = (int(number) for number in c.attr("paddings"))
    padded = [out[0] + top + bottom, out[1] + left + right]
    counts = [
        (size - step_size * (taps - 1) - 1) // stride + 1
        for size, taps, stride, step_size in zip(padded, kernel, strides, dilations, strict=True)
    ]
    reach = [
        (count - 1) * stride + step_size * (taps - 1) + 1
        for count, taps, stride, step_size in zip(counts, kernel, strides, dilations, strict=True)
    ]
    channels = x.shape[1] // math.prod(kernel)
    planes = b.reshape(x, [0, x.shape[1], *counts])
    weight = _single_taps(b, channels, kernel, x.dtype)
    if x.dtype == "float64":
        window = doubles.Window(strides, dilations, [0] * 4, channels)
        summed = doubles.transposed_convolution(b, planes, weight, window, [0, 0])
    else:
        summed = b.emit(
            "ConvTranspose", planes, weight, strides=strides, dilations=dilations, group=channels, kernel_shape=kernel,
            shape=[x.shape[0], channels, *reach],
        )  # fmt: skip
    rest = [whole - got for whole, got in zip(padded, reach, strict=True)]
    if any(rest):
        summed = b.emit("Pad", summed, b.constant([0] * 6 + rest), shape=[x.shape[0], channels, *padded])
    return b.slice(summed, [top, left], [top + out[0], left + out[1]], [2, 3])


def _frame(c: Call) -> Tensor:
    """Overlapping windows of a signal of known length: [..., length, frames], or the other way round at axis 0."""
    import numpy as np

    b, x, length, hop, axis = c.b, c.x(), int(c.attr("frame_length")), int(c.attr("hop_length")), int(c.attr("axis"))
    ahead = axis == 0 and x.rank > 0 and c.operator.attributes.get("axis") == 0
    axis = 0 if ahead else x.rank - 1
    size = x.shape[axis]
    if size >= 0:
        starts = b.constant(np.arange((size - length) // hop + 1) * hop)
    else:
        room = b.reshape(b.emit("Add", b.size_of(x, axis), b.constant([hop - length])), [], [])
        count = b.emit("Div", room, b.constant(hop))
        starts = b.emit("Mul", b.numbering(count), b.constant(hop))
    inside = b.constant(np.arange(length))
    if ahead:
        places = b.emit("Add", b.unsqueeze(starts, [1]), inside)
    else:
        places = b.emit("Add", b.unsqueeze(inside, [1]), starts)
    return b.emit("Gather", x, places, axis=axis, shape=c.result().shape)


def _overlap_add(c: Call) -> Tensor:
    """Windows added up where they overlap: the reverse of `frame`, [..., length, frames] or [frames, length, ...].

    Each sample goes to the place of its window plus its own (overlap_add_kernel.cc, Paddle 3.3.1). There PIR declares
    float32 of the result, whatever goes in, and what reads it is declared after that.
    """
    b, x, hop = c.b, c.x(), int(c.attr("hop_length"))
    if (declared := c.result().dtype) != (computed := c.raw().dtype):
        raise c.refuse(f"Paddle declares {declared} of what it computes in {computed}; cast the tensor to {declared}")
    ahead = int(c.insist("axis", -1, 0)) == 0
    if not ahead:
        x = b.transpose(x, [x.rank - 1, x.rank - 2, *range(x.rank - 2)])
    frames, length = (b.size_of(x, axis) for axis in (0, 1))
    begins = b.emit("Mul", b.places(frames), b.constant(hop))
    places = b.emit("Add", b.unsqueeze(begins, [1]), b.places(length), shape=x.shape[:2])
    end = b.emit("Add", b.emit("Mul", b.emit("Sub", frames, 1), b.constant([hop])), length)
    sizes = b.concat([end, *(b.size_of(x, axis) for axis in range(2, x.rank))])
    size = (x.shape[0] - 1) * hop + x.shape[1] if min(x.shape[:2]) >= 0 else -1
    shape = [size, *x.shape[2:]]
    zeros = b.expand(b.constant(0, x.dtype), sizes, shape)
    summed = b.emit("ScatterND", zeros, b.unsqueeze(places, [2]), x, reduction="add", shape=shape)
    return summed if ahead else b.transpose(summed, [*range(1, summed.rank), 0])


def _affine_grid(c: Call) -> Tensor:
    """Points between -1 and 1, times the transposed matrices."""
    b, theta, corners = c.b, c.x(0), bool(c.attr("align_corners"))
    fixed = [int(size) for size in c.attr("output_shape", []) or []]
    sizes = c.vector(1) if c.has(1) else b.constant(fixed)
    planes = [b.slice(sizes, [at], [at + 1], [0]) for at in range(2, theta.shape[1] + 2)]
    whole, count = b.concat([*planes, b.constant([1])]), len(planes)
    parts = []
    for at, size in enumerate(planes):
        line = b.reshape(_points(b, size, theta.dtype, corners), [-1, *[1] * (count - at)])
        parts.append(b.expand(line, whole, [*[-1] * count, 1]))
    ones = b.expand(b.constant(1.0, theta.dtype), whole, [*[-1] * count, 1])
    places = b.reshape(b.concat([*reversed(parts), ones], count), [-1, count + 1])
    flat = b.emit("MatMul", places, b.transpose(theta, [0, 2, 1]), shape=[theta.shape[0], -1, count])
    target = b.concat([b.size_of(theta, 0), *planes, b.constant([count])])
    return b.reshape(flat, target, [theta.shape[0], *[-1] * count, count])


def _points(b: Builder, size: Tensor, dtype: str, corners: bool) -> Tensor:
    """So many points from -1 to 1, ends included, or the middles of so many parts between."""
    places = b.cast(b.places(size), dtype)
    if corners:
        steps = b.cast(b.emit("Max", b.emit("Sub", size, 1), 1), dtype)
        return b.emit("Sub", b.emit("Div", b.emit("Mul", places, 2.0), steps), 1.0)
    middles = b.emit("Add", b.emit("Mul", places, 2.0), 1.0)
    return b.emit("Sub", b.emit("Div", middles, b.cast(size, dtype)), 1.0)


def _grid_sample(c: Call) -> Tensor:
    b, x, grid = c.b, c.x(0), c.x(1)
    if x.dtype == "float64":
        raise c.refuse("ONNX Runtime computes it in float32; cast the tensors to float32")
    if x.rank != 4:
        c.since(20, "sampling of volumes")
    mode = str(c.insist("mode", "bilinear", "nearest"))
    if b.opset >= 20:
        mode = {"bilinear": "linear"}.get(mode, mode)
    around = c.insist("padding_mode", "zeros", "border", "reflection")
    corners = int(bool(c.attr("align_corners")))
    return b.emit("GridSample", x, grid, mode=mode, padding_mode=around, align_corners=corners, shape=c.result().shape)


def _crop(c: Call) -> Tensor:
    """A part of a size from a place; -1 takes what is left."""
    b, x = c.b, c.x()
    shape, offsets = c.vector(1), c.vector(2)
    ends = b.emit("Where", b.emit("Less", shape, 0.0), b.shape_of(x), b.emit("Add", offsets, shape))
    return b.emit("Slice", x, offsets, ends, b.constant(list(range(x.rank))), shape=c.result().shape)


OPERATORS: dict[str, Lowering] = {
    "pad": _pad,
    "pad3d": _pad3d,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "channel_shuffle": _channel_shuffle,
    "temporal_shift": _temporal_shift,
    "unfold": _unfold,
    "fold": _fold,
    "frame": _frame,
    "overlap_add": _overlap_add,
    "affine_grid": _affine_grid,
    "grid_sample": _grid_sample,
    "crop": _crop,
}
