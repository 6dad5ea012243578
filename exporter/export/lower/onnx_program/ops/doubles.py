"""What ONNX Runtime 1.31 computes on a CPU in float32 alone: that operator there, and others that say it in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product as combinations
from math import prod

from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.gamma import polynomial

_TO_END = 1 << 30
#: The sizes between which erfc is e to -x² times a polynomial; below, erf is a power series, above it is 1.
_FROM, _TO = 1.5, 6.0


def hard_sigmoid(b: Builder, x: Tensor, slope: float, offset: float) -> Tensor:
    """Give slope * x + offset, cut to what lies within 0 and 1."""
    if x.dtype != "float64":
        return b.emit("HardSigmoid", x, alpha=slope, beta=offset)
    line = b.emit("Add", b.emit("Mul", x, slope), offset)
    return b.emit("Clip", line, b.constant(0.0, x.dtype), b.constant(1.0, x.dtype), shape=x.shape)


def hard_swish(b: Builder, x: Tensor) -> Tensor:
    """X times what of x + 3 lies within 0 and 6, over 6."""
    if x.dtype != "float64":
        return b.emit("HardSwish", x)
    line = b.emit("Add", x, 3.0)
    inside = b.emit("Clip", line, b.constant(0.0, x.dtype), b.constant(6.0, x.dtype), shape=x.shape)
    return b.emit("Div", b.emit("Mul", x, inside), 6.0)


def leaky_relu(b: Builder, x: Tensor, slope: float) -> Tensor:
    """X, and below zero times the slope; the attribute of ONNX's operator is a float32."""
    if x.dtype != "float64":
        return b.emit("LeakyRelu", x, alpha=slope)
    return b.emit("Where", b.emit("Less", x, 0.0), b.emit("Mul", x, slope), x)


def elu(b: Builder, x: Tensor, alpha: float) -> Tensor:
    """X, and below zero alpha (exp(x) - 1)."""
    if x.dtype != "float64":
        return b.emit("Elu", x, alpha=alpha)
    below = b.emit("Mul", b.emit("Sub", b.emit("Exp", b.emit("Min", x, 0.0)), 1.0), alpha)
    return b.emit("Where", b.emit("Less", x, 0.0), below, x)


def selu(b: Builder, x: Tensor, alpha: float, scale: float) -> Tensor:
    """Scale times x, and below zero times alpha (exp(x) - 1)."""
    if x.dtype != "float64":
        return b.emit("Selu", x, alpha=alpha, gamma=scale)
    below = b.emit("Sub", b.emit("Mul", b.emit("Exp", b.emit("Min", x, 0.0)), alpha), alpha)
    return b.emit("Mul", b.emit("Where", b.emit("Greater", x, 0.0), x, below), scale)


def erf(b: Builder, x: Tensor) -> Tensor:
    """The error function: its power series up to 1.5, and above 1 less erfc."""
    if x.dtype != "float64":
        return b.emit("Erf", x)
    size = b.emit("Abs", x)
    square = b.emit("Mul", x, x)
    near = b.emit("Mul", x, polynomial(b, square, _power_series()))
    far = b.emit("Where", b.emit("Greater", size, _TO), _TO, size)
    place = b.emit("Add", b.emit("Mul", b.emit("Div", 1.0, b.emit("Add", far, 2.0)), _SLOPE), _OFFSET)
    tail = b.emit("Mul", b.emit("Exp", b.emit("Neg", b.emit("Mul", far, far))), polynomial(b, place, _scaled_rest()))
    above = b.emit("Mul", b.emit("Sub", 1.0, tail), b.emit("Sign", x))
    return b.emit("Where", b.emit("Less", size, _FROM), near, above)


#: 1 / (2 + x) of the sizes from `_TO` to `_FROM`, spread over -1 to 1.
_LOW, _HIGH = 1 / (2 + _TO), 1 / (2 + _FROM)
_SLOPE, _OFFSET = 2 / (_HIGH - _LOW), -(_HIGH + _LOW) / (_HIGH - _LOW)


@cache
def _power_series() -> list[float]:
    """Return the series of erf(x) / x by x² (A&S 7.1.5), as far as it counts at 1.5."""
    return [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(26)]


@cache
def _scaled_rest() -> list[float]:
    """The numbers of the polynomial through erfc(x) exp(x²) at Chebyshev's places of 1 / (2 + x)."""
    from numpy.polynomial import chebyshev

    places = chebyshev.chebpts1(15)
    sizes = [float(size) for size in _SLOPE / (places - _OFFSET) - 2]
    values = [math.erfc(size) * math.exp(size * size) for size in sizes]
    return [float(number) for number in chebyshev.cheb2poly(chebyshev.chebfit(places, values, 14))]


def instance_norm(b: Builder, x: Tensor, scale: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Each channel of each element of the batch less its mean, over its deviation; times scale, and bias added."""
    if x.dtype != "float64":
        return b.emit("InstanceNormalization", x, scale, bias, epsilon=epsilon, shape=x.shape)
    axes, shape = list(range(2, x.rank)), [-1] + [1] * (x.rank - 2)
    centred = b.emit("Sub", x, b.reduce("ReduceMean", x, axes, keep=True), shape=x.shape)
    variance = b.reduce("ReduceMean", b.emit("Mul", centred, centred), axes, keep=True)
    normalised = b.emit("Div", centred, b.emit("Sqrt", b.emit("Add", variance, epsilon)), shape=x.shape)
    scaled = b.emit("Mul", normalised, b.reshape(scale, shape), shape=x.shape)
    return b.emit("Add", scaled, b.reshape(bias, shape), shape=x.shape)


def global_pool(b: Builder, x: Tensor, average: bool) -> Tensor:
    """The mean of each channel, or its largest number, with dims of 1."""
    if x.dtype != "float64":
        shape = [*x.shape[:2], *[1] * (x.rank - 2)]
        return b.emit("GlobalAveragePool" if average else "GlobalMaxPool", x, shape=shape)
    return b.reduce("ReduceMean" if average else "ReduceMax", x, list(range(2, x.rank)), keep=True)


def average_pool(
    b: Builder, x: Tensor, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], counts: bool
) -> Tensor:
    """The mean of each window of a float64; padding is an element, 0, where it `counts`, and none where not."""
    total = _window_sums(b, x, kernel, strides, pads)
    if counts or not any(pads):
        return b.emit("Div", total, float(prod(kernel)), shape=total.shape)
    sizes = b.concat([b.constant([1, 1]), *(b.size_of(x, axis) for axis in range(2, x.rank))])
    ones = b.expand(b.constant(1.0, x.dtype), sizes, [1, 1, *x.shape[2:]])
    return b.emit("Div", total, _window_sums(b, ones, kernel, strides, pads), shape=total.shape)


def _window_sums(b: Builder, x: Tensor, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int]) -> Tensor:
    """Dim by dim the sum of the slices that begin at each place of a window."""
    x = _padded(b, x, pads)
    for axis, (length, step) in enumerate(zip(kernel, strides, strict=True), 2):
        slices = [_every(b, x, [axis], ([at], [at + 1 - length], [step])) for at in range(length)]
        x = reduce(lambda total, part: b.emit("Add", total, part, shape=total.shape), slices)
    return x


def _padded(b: Builder, x: Tensor, pads: Sequence[int]) -> Tensor:
    """Put zeros around the planes: so many at the beginnings, then at the ends."""
    if not any(pads):
        return x
    dims = x.rank - 2
    sizes = [
        size if size < 0 else size + sum(both)
        for size, both in zip(x.shape[2:], zip(pads[:dims], pads[dims:], strict=True), strict=True)
    ]
    around = b.constant([0, 0, *pads[:dims], 0, 0, *pads[dims:]])
    return b.emit("Pad", x, around, b.constant(0.0, x.dtype), shape=[*x.shape[:2], *sizes])


def _every(
    b: Builder, x: Tensor, axes: Sequence[int], slices: tuple[Sequence[int], Sequence[int], Sequence[int]]
) -> Tensor:
    """Slices by starts, ends and steps; an end counts from the end, below 0, or is 0 for the whole."""
    starts, ends, steps = slices
    stops = [end or _TO_END for end in ends]
    shape = list(x.shape)
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        shape[axis] = len(range(*slice(start, stop, step).indices(shape[axis]))) if shape[axis] >= 0 else -1
    return b.emit("Slice", x, *map(b.constant, (list(starts), stops, list(axes), list(steps))), shape=shape)


@dataclass(frozen=True)
class Window:
    """How a kernel goes over planes; `pads` are the begins, then the ends; `groups` are those of the channels."""

    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[int]
    groups: int


def convolution(b: Builder, x: Tensor, weight: Tensor, window: Window) -> Tensor:
    """The convolution of a float64: the slices at each place of the kernel side by side, times the weight."""
    x, kernel, axes, groups = _padded(b, x, window.pads), weight.shape[2:], list(range(2, x.rank)), window.groups
    reach = [(length - 1) * step for length, step in zip(kernel, window.dilations, strict=True)]
    slices = []
    for place in combinations(*map(range, kernel)):
        starts = [at * step for at, step in zip(place, window.dilations, strict=True)]
        ends = [start - whole for start, whole in zip(starts, reach, strict=True)]
        slices.append(_every(b, x, axes, (starts, ends, window.strides)))
    inner, outer = weight.shape[1], weight.shape[0]
    rows = [b.reshape(part, [0, groups, inner, 1, -1]) for part in slices]
    columns = b.reshape(b.concat(rows, 3), [0, groups, inner * len(rows), -1], [x.shape[0], groups, -1, -1])
    taps = b.reshape(weight, [groups, outer // groups, inner * len(rows)])
    convolved = b.emit("MatMul", taps, columns, shape=[x.shape[0], groups, outer // groups, -1])
    sizes = [b.size_of(slices[0], 0), b.constant([outer]), *(b.size_of(slices[0], axis) for axis in axes)]
    return b.reshape(convolved, b.concat(sizes), [x.shape[0], outer, *slices[0].shape[2:]])


def transposed_convolution(b: Builder, x: Tensor, weight: Tensor, window: Window, extra: Sequence[int]) -> Tensor:
    """The transposed convolution of a float64: for each place of the kernel x, spread by the strides, and moved."""
    kernel, dims, groups, (inner, outer) = weight.shape[2:], x.rank - 2, window.groups, weight.shape[:2]
    axes = list(range(2, x.rank))
    taps = b.reshape(weight, [groups, inner // groups, outer, -1], [groups, inner // groups, outer, prod(kernel)])
    flat = b.reshape(x, [0, groups, inner // groups, -1])
    sizes = b.concat([b.size_of(x, 0), b.constant([groups * outer]), *(b.size_of(x, axis) for axis in axes)])
    shape = [x.shape[0], groups * outer, *x.shape[2:]]
    parts = []
    for number, place in enumerate(combinations(*map(range, kernel))):
        tap = b.transpose(b.squeeze(b.slice(taps, [number], [number + 1], [3]), [3]), [0, 2, 1])
        part = b.reshape(b.emit("MatMul", tap, flat, shape=[-1] * 4), sizes, shape)
        begins = [at * step for at, step in zip(place, window.dilations, strict=True)]
        ends = [(size - 1 - at) * step for size, at, step in zip(kernel, place, window.dilations, strict=True)]
        parts.append(_padded(b, _spread(b, part, window.strides), [*begins, *ends]))
    total = reduce(lambda total, part: b.emit("Add", total, part, shape=total.shape), parts)
    begins, behind = list(window.pads[:dims]), window.pads[dims:]
    ends = [more + 1 - step - end for more, step, end in zip(extra, window.strides, behind, strict=True)]
    return _every(b, total, axes, (begins, ends, [1] * dims))


def _spread(b: Builder, x: Tensor, strides: Sequence[int]) -> Tensor:
    """Put zeros, one fewer than a step, behind each element of the planes' dims."""
    for axis, step in enumerate(strides, 2):
        if step > 1:
            single = b.unsqueeze(x, [axis + 1])
            around = b.constant([*[0] * single.rank, *(step - 1 if at == axis + 1 else 0 for at in range(single.rank))])
            wide = b.emit("Pad", single, around, b.constant(0.0, x.dtype), shape=[-1] * single.rank)
            sizes = [b.size_of(x, at) for at in range(x.rank)]
            sizes[axis] = b.emit("Mul", sizes[axis], step)
            shape = list(x.shape)
            shape[axis] = shape[axis] * step if shape[axis] >= 0 else -1
            x = b.reshape(wide, b.concat(sizes), shape)
    return x
