"""Padding, resizing, shuffles, windows, and sampling between places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
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


def _interpolate(c: Call) -> Tensor:
    b, behind = c.b, layout(c)
    x = first(b, c.x(0)) if behind else c.x(0)
    dims = x.rank - 2
    if x.dtype == "float64":
        raise c.refuse("ONNX Runtime computes positions in float32; cast the tensor to float32")
    sizes, scales = _target(c, x, dims)
    kind = str(c.insist("interp_method", "nearest", "bilinear", "linear", "trilinear", "bicubic"))
    corners, mode = bool(c.attr("align_corners")), int(c.attr("align_mode"))
    settings: dict[str, Any] = {"mode": {"nearest": "nearest", "bicubic": "cubic"}.get(kind, "linear")}
    if kind == "nearest":
        settings["nearest_mode"] = "round_prefer_ceil" if corners else "floor"
    if kind == "bicubic":
        settings["cubic_coeff_a"] = -0.75
    half = kind in ("bicubic",) or (kind != "nearest" and mode == 0)
    settings["coordinate_transformation_mode"] = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    shape = c.result().shape
    shape = (shape[0], shape[-1], *shape[1:-1]) if behind else shape
    resized = _nearest(b, x, shape) if kind == "nearest" and not corners and scales is None else None
    if sizes is not None and (factors := _factors(x.shape[2:], shape[2:])):
        sizes, scales = None, b.constant([1.0, 1.0, *factors], "float32")
    resized = resized or b.emit("Resize", x, None, scales, sizes, **settings, shape=shape)
    return last(b, resized) if behind else resized


def _factors(before: Sequence[int], after: Sequence[int]) -> list[float]:
    """What known sizes are multiplied by, as 64 by 2 or 32 by 0.5; empty where they vary or float32 would round that.

    A constant of factors needs no size of the batch, which OpenCV's DNN module reads wrongly from a `Shape` (4.14).
    """
    import numpy as np

    if -1 in (*before, *after):
        return []
    factors = [end / start for start, end in zip(before, after, strict=True)]
    return factors if all(float(np.float32(factor)) == factor for factor in factors) else []


def _nearest(b: Builder, x: Tensor, shape: Sequence[int]) -> Tensor | None:
    """By the elements that Paddle chooses, where ONNX Runtime would choose others; None where none differs.

    The kernel multiplies by a ratio in float32 (interpolate_kernel.cc, 3.3.1), ONNX Runtime 1.31 divides by another. Of
    all pairs of sizes below 200 4 % differ somewhere, as 14 and 2; of n and 2n, 2n - 1, 3n, 4n, 5n or 6n none.
    """
    import numpy as np

    axes = range(2, x.rank)
    if -1 in (*x.shape[2:], *shape[2:]):
        return None
    steps = [np.arange(shape[axis], dtype="float32") for axis in axes]
    pairs = [(np.float32(x.shape[axis]), np.float32(shape[axis])) for axis in axes]
    theirs = [np.floor(step * (before / after)) for step, (before, after) in zip(steps, pairs, strict=True)]
    others = [np.floor(step / (after / before)) for step, (before, after) in zip(steps, pairs, strict=True)]
    if all(map(np.array_equal, theirs, others)):
        return None
    for axis, places in zip(axes, theirs, strict=True):
        sizes = [*x.shape[:axis], shape[axis], *x.shape[axis + 1 :]]
        x = b.emit("Gather", x, b.constant(np.minimum(places, x.shape[axis] - 1)), axis=axis, shape=sizes)
    return x


def _target(c: Call, x: Tensor, dims: int) -> tuple[Tensor | None, Tensor | None]:
    """Sizes or scales. Paddle asks first for a list of sizes, then a tensor of them, then scales, then numbers."""
    b = c.b
    outer = [b.size_of(x, 0), b.size_of(x, 1)]
    fixed = [int(c.attr(name)) for name in ("out_d", "out_h", "out_w")][-dims:]
    factors = [float(factor) for factor in c.attr("scale") or []]
    operand = next((at for at in (2, 1) if c.has(at)), None)
    if operand is not None:
        c.idle(1, 2, 3)
        return b.concat([*outer, c.vector(operand)]), None
    if c.has(3):
        scales = b.reshape(b.cast(c.raw(3), "float32"), [-1])
        scales = b.expand(scales, b.constant([dims]), [dims])
        return None, b.concat([b.constant([1.0, 1.0], "float32"), scales])
    if factors and min(factors) > 0:
        per_dim = factors * dims if len(factors) == 1 else factors
        if -1 not in x.shape[2:]:  # as Paddle rounds: in float32, down
            whole = [int(size * scale) for size, scale in zip(x.shape[2:], per_dim, strict=True)]
            exact = all(
                abs(size * scale - out) < 1e-9 for size, scale, out in zip(x.shape[2:], per_dim, whole, strict=True)
            )
            if exact:
                return b.concat([*outer, b.constant(whole)]), None
        steps = [_scale(size, scale) for size, scale in zip(x.shape[2:], per_dim, strict=True)]
        return None, b.constant([1.0, 1.0, *steps], "float32")
    if min(fixed) <= 0:
        raise c.refuse("neither a size nor a scale is given")
    return b.concat([*outer, b.constant(fixed)]), None


def _scale(size: int, scale: float) -> float:
    """The scale in float32, or the next that gives the size that Paddle gives.

    Paddle multiplies in float32, where 30 times 1.3 is 39; by its digits it is less, and so onnx infers 38.
    """
    import numpy as np

    step = np.float32(scale)
    while size >= 0 and int(size * float(step)) < int(np.float32(size) * np.float32(scale)):
        step = np.nextafter(step, np.float32(np.inf))
    return float(step)


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
    five = b.reshape(x, [-1, segments, *x.shape[1:]])
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
    columns = b.emit(
        "Conv", x, _single_taps(b, channels, kernel, x.dtype), kernel_shape=kernel, strides=strides,
        dilations=dilations, pads=paddings, group=channels, shape=[x.shape[0], channels * taps, -1, -1],
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


_INTERPOLATED = ("linear", "nearest", "bilinear", "trilinear", "bicubic")
OPERATORS: dict[str, Lowering] = {
    **{f"{name}_interp": _interpolate for name in _INTERPOLATED},
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
