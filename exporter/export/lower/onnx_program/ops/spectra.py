"""Fourier transforms, one axis after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Pair, Tensor
from exporter.export.lower.onnx_program.ops.binary import floor_div
from exporter.export.lower.onnx_program.ops.linear import product


def _swapped(b: Builder, x: Tensor, axis: int) -> Tensor:
    """With this axis and the last one in each other's place."""
    order = list(range(x.rank))
    order[axis], order[-1] = order[-1], order[axis]
    return b.transpose(x, order)


def _matrix(b: Builder, x: Tensor, axis: int, sign: float, halved: bool) -> tuple[Tensor, Tensor]:
    """Cosines and `sign` times sines of 2π·j·k/n; products are taken modulo n first, which keeps the angles exact."""
    import numpy as np

    size = x.shape[axis]
    if size >= 0:
        places = np.arange(size)
        frequencies = places[: size // 2 + 1] if halved else places
        taken = places[:, None] * frequencies % size
        angles = 2 * np.pi * taken / size
        sines = np.where(2 * taken == size, 0.0, np.sin(angles))  # of half a turn none is left: an angle hangs on it
        return b.constant(np.cos(angles), x.dtype), b.constant(sign * sines, x.dtype)
    count = b.reshape(b.size_of(x, axis), [], [])
    steps = b.numbering(count)
    waves = steps
    if halved:
        kept = b.emit("Add", floor_div(b, count, b.constant(2)), 1.0)
        waves = b.numbering(kept)
    turns = b.emit("Mod", b.emit("Mul", b.unsqueeze(steps, [1]), b.unsqueeze(waves, [0])), count)
    back = b.emit("Greater", b.emit("Mul", turns, 2.0), count)
    turns = b.cast(b.emit("Where", back, b.emit("Sub", turns, count), turns), x.dtype)
    angles_now = b.emit("Div", b.emit("Mul", turns, 2 * math.pi), b.cast(count, x.dtype))
    return b.emit("Cos", angles_now), b.emit("Mul", b.emit("Sin", angles_now), sign)


def _along(b: Builder, x: Pair | Tensor, axis: int, forward: bool, halved: bool = False) -> Pair:
    """The transform over one axis, without any factor."""
    real = x.real if isinstance(x, Pair) else x
    cosines, sines = _matrix(b, real, axis, -1.0 if forward else 1.0, halved)
    top = _swapped(b, real, axis)
    made = Pair(product(b, top, cosines), product(b, top, sines))
    if isinstance(x, Pair):
        under = _swapped(b, x.imag, axis)
        made = Pair(
            b.emit("Sub", made.real, product(b, under, sines)), b.emit("Add", made.imag, product(b, under, cosines))
        )
    return Pair(_swapped(b, made.real, axis), _swapped(b, made.imag, axis))


def _factor(c: Call, sized: Tensor, axes: Sequence[int], dtype: str) -> Tensor | None:
    """What the result is divided by: the number of places that `sized` has along the axes, or its root."""
    b, norm, forward = c.b, c.insist("normalization", "backward", "ortho", "forward"), bool(c.attr("forward"))
    if norm != "ortho" and (norm == "forward") != forward:
        return None
    count = b.size_of(sized, axes[0])
    for axis in axes[1:]:
        count = b.emit("Mul", count, b.size_of(sized, axis))
    number = b.cast(b.reshape(count, [], []), dtype)
    return b.emit("Sqrt", number) if norm == "ortho" else number


def _scaled(c: Call, x: Pair, sized: Tensor, axes: Sequence[int]) -> Pair:
    factor = _factor(c, sized, axes, x.real.dtype)
    if factor is None:
        return x
    return Pair(c.b.emit("Div", x.real, factor), c.b.emit("Div", x.imag, factor))


def _axes(c: Call, rank: int) -> list[int]:
    return [int(axis) % rank for axis in c.attr("axes")]


def _from_real(c: Call) -> Pair:
    """The last of the axes first; of it, where `onesided`, the first n // 2 + 1 frequencies."""
    x = c.x()
    *rest, last = axes = _axes(c, x.rank)
    pair = _along(c.b, x, last, bool(c.attr("forward")), halved=bool(c.attr("onesided")))
    for axis in rest:
        pair = _along(c.b, pair, axis, bool(c.attr("forward")))
    return _scaled(c, pair, x, axes)


def _from_complex(c: Call) -> Pair:
    pair = first = c.pair(0)
    axes = _axes(c, first.real.rank)
    for axis in axes:
        pair = _along(c.b, pair, axis, bool(c.attr("forward")))
    return _scaled(c, pair, first.real, axes)


def _to_real(c: Call) -> Tensor:
    """The spectrum holds n // 2 + 1 frequencies along the last of the axes; the others are their mirror."""
    import numpy as np

    b, pair, forward = c.b, c.pair(0), bool(c.attr("forward"))
    *rest, last = axes = _axes(c, pair.real.rank)
    for axis in rest:
        pair = _along(b, pair, axis, forward)
    held = pair.real.shape[last]
    count = int(c.attr("last_dim_size")) or 2 * (held - 1)
    if held < 0:
        raise c.refuse("how many frequencies there are is not known before the model runs")
    frequencies, places = np.arange(count // 2 + 1), np.arange(count)
    angles = 2 * np.pi * (frequencies[:, None] * places % count) / count
    weights = np.where((frequencies == 0) | (2 * frequencies == count), 1.0, 2.0)[:, None]
    sign = -1.0 if forward else 1.0
    dtype = pair.real.dtype
    kept = len(frequencies)
    real, imag = (b.slice(_swapped(b, part, last), [0], [kept], [-1]) for part in (pair.real, pair.imag))
    made = product(b, real, b.constant(weights * np.cos(angles), dtype))
    made = b.emit("Sub", made, product(b, imag, b.constant(sign * weights * np.sin(angles), dtype)))
    made = _swapped(b, made, last)
    factor = _factor(c, made, axes, dtype)
    return made if factor is None else b.emit("Div", made, factor)


OPERATORS: dict[str, Lowering] = {"fft_r2c": _from_real, "fft_c2c": _from_complex, "fft_c2r": _to_real}
