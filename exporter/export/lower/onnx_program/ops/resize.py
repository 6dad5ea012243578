"""Resizing: by elements, between two elements, and by cubic curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.conv import first, last, layout

#: Attributes of a Resize, by their names.
_Settings: TypeAlias = dict[str, Any]


def _interpolate(c: Call) -> Tensor:
    b, behind = c.b, layout(c)
    x = first(b, c.x(0)) if behind else c.x(0)
    dims = x.rank - 2
    sizes, scales = _target(c, x, dims)
    kind = str(c.insist("interp_method", "nearest", "bilinear", "linear", "trilinear", "bicubic"))
    corners, mode = bool(c.attr("align_corners")), int(c.attr("align_mode"))
    shape = c.result().shape
    shape = (shape[0], shape[-1], *shape[1:-1]) if behind else shape
    half = not corners and (kind == "bicubic" or (kind != "nearest" and mode == 0))
    to_one = _to_one(c, x, shape) if half and dims == 2 else []
    target = sizes if sizes is not None else scales
    if kind == "bicubic" and target is not None:
        for axis in to_one:
            x = _before_first(b, x, axis, _makes_one(b, x, target, axis))
    resized = _nearest(b, x, shape) if kind == "nearest" and not corners and scales is None else None
    told = _whole(c, x) in ([], list(shape[2:]))  # of 90 times 1.3 the program says 116, and the kernel makes 117
    if sizes is not None and told and kind.endswith("linear") and _places_differ(x, shape, corners):
        resized = _between(b, x, sizes, shape, _Way(dims, corners, half, _steps(c, dims)))
    if resized is None:
        if x.dtype == "float64" and kind != "nearest":
            raise c.refuse("ONNX Runtime computes positions in float32; cast the tensor to float32")
        settings: _Settings = {"mode": {"nearest": "nearest", "bicubic": "cubic"}.get(kind, "linear")}
        if kind == "nearest":
            settings["nearest_mode"] = "round_prefer_ceil" if corners else "floor"
        if kind == "bicubic":
            settings["cubic_coeff_a"] = -0.75
        halves = "pytorch_half_pixel" if to_one and kind == "bilinear" else "half_pixel"
        aligned = "align_corners" if corners else halves if half else "asymmetric"
        if sizes is not None and (factors := _factors(x.shape[2:], shape[2:])):
            sizes, scales = None, b.constant([1.0, 1.0, *factors], "float32")
        settings["coordinate_transformation_mode"] = aligned
        if x.dtype == "float64":
            resized = _by_places(b, x, (scales, sizes), settings, shape)
        else:
            resized = b.emit("Resize", x, None, scales, sizes, **settings, shape=shape)
    return last(b, resized) if behind else resized


def _to_one(c: Call, x: Tensor, shape: Sequence[int]) -> list[int]:
    """The axes of a picture that are resized to one element of several, or may be.

    Where places lie between elements, Paddle puts that one half an element before the first (interpolate_kernel.cc,
    3.3.1, which takes no step there), and not in the middle as in lines and volumes. Linearly that is the first
    element, as it is with ONNX's `pytorch_half_pixel`.
    """
    factors = [float(factor) for factor in c.attr("scale") or []]
    grows = bool(factors) and min(factors) >= 1 and not any(map(c.has, (1, 2, 3)))
    open_sizes = (1,) if grows else (1, -1)
    return [axis for axis in range(2, x.rank) if x.shape[axis] != 1 and shape[axis] in open_sizes]


def _makes_one(b: Builder, x: Tensor, target: Tensor, axis: int) -> Tensor:
    """Emit whether an axis is resized to one element, by sizes or by scales: a vector of one bool."""
    wanted = b.slice(target, [axis], [axis + 1], [0])
    if wanted.dtype == "int64":
        return b.emit("Equal", wanted, 1)
    return b.emit("Less", b.emit("Mul", b.cast(b.size_of(x, axis), wanted.dtype), wanted), 2.0)


def _before_first(b: Builder, x: Tensor, axis: int, where: Tensor) -> Tensor:
    """Replace all along an axis by what cubic curves make of the place half an element before the first."""
    result = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    second = b.emit("Min", b.emit("Sub", b.size_of(x, axis), 1), 1)
    ends = [b.emit("Gather", x, at, axis=axis, shape=result) for at in (b.constant([0]), second)]
    outside = 0.09375  # the weight of an element one and a half away, of coefficient -0.75
    curve = b.emit("Sub", b.emit("Mul", ends[0], 1 + outside), b.emit("Mul", ends[1], outside))
    return b.emit("Where", where, curve, x, shape=x.shape)


def _places_differ(x: Tensor, shape: Sequence[int], corners: bool) -> bool:
    """Return whether ONNX Runtime puts the elements of a linear resize elsewhere than Paddle.

    Both compute places in float32, by other formulas: of 512 elements resized to 712 the results differ by 5e-5 of
    their size (ONNX Runtime 1.31, Paddle 3.3.1), where rounding alone moves them by 1e-7. They are the same without
    corners where each size is multiplied by a power of two, as sizes that vary mostly are.
    """
    pairs = list(zip(x.shape[2:], shape[2:], strict=True))
    if all(before == after > 0 for before, after in pairs):
        return False
    if corners or x.dtype == "float64":
        return True
    return -1 not in (*x.shape[2:], *shape[2:]) and not all(
        math.frexp(after / before)[0] == 0.5 for before, after in pairs
    )


@dataclass(frozen=True)
class _Way:
    """How places are computed along `dims` axes.

    `steps` from element to element along each, where scales say them and not sizes.
    """

    dims: int
    corners: bool
    half: bool
    steps: tuple[float, ...]


def _steps(c: Call, dims: int) -> tuple[float, ...]:
    scales = [float(factor) for factor in c.attr("scale") or []]
    if any(c.has(at) for at in (1, 2)) or not scales:
        return ()
    return tuple(1 / scale for scale in (scales * dims if len(scales) == 1 else scales))


def _between(b: Builder, x: Tensor, sizes: Tensor, shape: Sequence[int], way: _Way) -> Tensor:
    """Each axis in turn: the two elements around a place, each by its weight."""
    for axis in range(2, x.rank):
        if x.shape[axis] == shape[axis] > 0:
            continue
        outer = [1] * (x.rank - axis - 1)
        result = (*x.shape[:axis], shape[axis], *x.shape[axis + 1 :])
        before = b.size_of(x, axis)
        after = b.constant([shape[axis]]) if shape[axis] >= 0 else b.slice(sizes, [axis], [axis + 1], [0])
        place = b.emit("Max", _places(b, before, after, way, axis - x.rank), 0.0)
        end = b.cast(b.emit("Sub", before, 1), place.dtype)
        low = b.emit("Min", b.emit("Floor", place), end)
        high = b.emit("Min", b.emit("Add", low, 1.0), end)
        weight = b.emit("Sub", place, low)
        parts = []
        for at, share in ((low, b.emit("Sub", 1.0, weight)), (high, weight)):  # rounded to float32, for doubles too
            factor = b.reshape(b.cast(share, x.dtype), [-1, *outer], [shape[axis], *outer])
            taken = b.emit("Gather", x, b.cast(at, "int64"), axis=axis, shape=result)
            parts.append(b.emit("Mul", taken, factor, shape=result))
        x = b.emit("Add", *parts, shape=result)
    return x


def _places(b: Builder, before: Tensor, after: Tensor, way: _Way, axis: int) -> Tensor:
    """Compute where along an axis, the last of which is -1, each of the result stands; a size is a vector of one.

    As the kernels compute it (interpolate_kernel.cc, 3.3.1; measured to the last bit): in float32, for doubles too. Of
    a line places between elements are float64, and of the rows of a picture they are rounded once.
    """
    count = b.places(after)
    if way.corners:
        before, after = b.emit("Sub", before, 1), b.emit("Max", b.emit("Sub", after, 1), 1)
    if way.steps and not way.corners:
        step = b.constant([way.steps[axis]], "float32")
    else:
        step = b.emit("Div", b.cast(before, "float32"), b.cast(after, "float32"))
    if way.half and way.dims == 2 and (after.array is None or int(after.array[0]) == 1):  # see `_to_one`
        step = b.emit("Where", b.emit("Equal", after, 1), 0.0, step)
    if way.corners or not way.half:
        return b.emit("Mul", b.cast(count, "float32"), step)
    wide = way.dims == 1 or (way.dims, axis) == (2, -2)
    dtype = "float64" if wide else "float32"
    middle = b.emit("Mul", b.emit("Add", b.cast(count, dtype), 0.5), b.cast(step, dtype))
    place = b.emit("Sub", middle, 0.5)
    return place if way.dims == 1 else b.cast(place, "float32")


def _factors(before: Sequence[int], after: Sequence[int]) -> list[float]:
    """Return what known sizes are multiplied by, as 64 by 2 or 32 by 0.5; empty where they vary or float32 rounds that.

    A constant of factors needs no size of the batch, which OpenCV's DNN module reads wrongly from a `Shape` (4.14).
    """
    import numpy as np

    if -1 in (*before, *after):
        return []
    factors = [end / start for start, end in zip(before, after, strict=True)]
    return factors if all(float(np.float32(factor)) == factor for factor in factors) else []


def _nearest(b: Builder, x: Tensor, shape: Sequence[int]) -> Tensor | None:
    """Resize by the elements that Paddle chooses, where ONNX Runtime would choose others; None where none differs.

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


def _by_places(
    b: Builder,
    x: Tensor,
    target: tuple[Tensor | None, Tensor | None],
    settings: _Settings,
    shape: Sequence[int],
) -> Tensor:
    """Gather the elements that ONNX Runtime chooses of a float32: it resizes the places along each axis."""
    for axis in range(2, x.rank):
        result = [*x.shape[:axis], shape[axis], *x.shape[axis + 1 :]]
        line = b.reshape(b.cast(b.places(b.size_of(x, axis)), "float32"), [1, 1, -1], [1, 1, x.shape[axis]])
        ones = b.constant([1, 1] if target[0] is None else [1.0, 1.0], "int64" if target[0] is None else "float32")
        own = [part and b.concat([ones, b.slice(part, [axis], [axis + 1], [0])]) for part in target]
        chosen = b.emit("Resize", line, None, *own, **settings, shape=[1, 1, shape[axis]])
        places = b.cast(b.reshape(chosen, [-1], [shape[axis]]), "int64")
        x = b.emit("Gather", x, places, axis=axis, shape=result)
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
        if whole := _whole(c, x):
            return b.concat([*outer, b.constant(whole)]), None
        steps = [_scale(size, scale) for size, scale in zip(x.shape[2:], per_dim, strict=True)]
        return None, b.constant([1.0, 1.0, *steps], "float32")
    if min(fixed) <= 0:
        raise c.refuse("neither a size nor a scale is given")
    return b.concat([*outer, b.constant(fixed)]), None


def _whole(c: Call, x: Tensor) -> list[int]:
    """Sizes that known ones times the scales make without rounding; empty where others say them or they are rounded."""
    factors, dims = [float(factor) for factor in c.attr("scale") or []], x.rank - 2
    if not factors or min(factors) <= 0 or -1 in x.shape[2:] or any(map(c.has, (1, 2, 3))):
        return []
    per_dim = factors * dims if len(factors) == 1 else factors
    pairs = list(zip(x.shape[2:], per_dim, strict=True))
    exact = all(abs(size * scale - int(size * scale)) < 1e-9 for size, scale in pairs)
    return [int(size * scale) for size, scale in pairs] if exact else []


def _scale(size: int, scale: float) -> float:
    """The scale in float32, or the next that gives the size that Paddle gives.

    Paddle multiplies in float32, where 30 times 1.3 is 39; by its digits it is less, and so onnx infers 38.
    """
    import numpy as np

    step = np.float32(scale)
    while size >= 0 and int(size * float(step)) < int(np.float32(size) * np.float32(scale)):
        step = np.nextafter(step, np.float32(np.inf))
    return float(step)


OPERATORS: dict[str, Lowering] = {
    f"{name}_interp": _interpolate for name in ("linear", "nearest", "bilinear", "trilinear", "bicubic")
}
