"""Resizing in NumPy, by the rules of OpenCV and of Pillow.

OpenCV (modules/imgproc/src/resize.cpp, 4.10) takes the neighbours of a point however much it shrinks, and computes
uint8 with weights of 11 bits; Pillow (src/libImaging/Resample.c, 11) widens the filter by the factor it shrinks by,
and rounds to uint8 between its two passes. The horizontal one comes first; from Pillow 13.0 on the vertical one, where
more than twice as many rows go as columns: `pillow13`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

Interpolation = Literal["nearest", "linear", "cubic", "area", "lanczos"]
Library = Literal["opencv", "pillow", "pillow13"]
#: Neighbours and weights of each point of an axis: [size, taps] each.
Taps = tuple[Any, Any]
#: By how much the height and the width grow.
Factors: TypeAlias = tuple[float, float]

#: OpenCV's weights of uint8 are multiples of 2⁻¹¹.
_ONE = 1 << 11
_FINE = 1 << 22
#: The numbers of a vector that OpenCV's last pass takes at once.
_VECTOR = 8
#: Parts of a pixel that OpenCV leaves out of a mean.
_LEAST = 1e-3


def resample(
    value: Array, height: int, width: int, how: Interpolation, library: Library, factors: Factors | None = None
) -> Array:
    """[height, width, channels] in another size and the same dtype, which is uint8 or a float.

    `factors` are those of the rows and columns where OpenCV is given them (`fx`, `fy`) instead of the size.
    """
    if value.shape[:2] == (height, width):
        return value.copy()
    if how == "nearest":
        return _nearest(value, height, width, library)
    if library == "opencv":
        return _opencv(value, (height, width), how, factors)
    return _pillow(value, _passes(value, height, width, library), how)


def _nearest(value: Array, height: int, width: int, library: Library) -> Array:
    rows, columns = (
        nearest_places(old, new, library) for old, new in zip(value.shape[:2], (height, width), strict=True)
    )
    return np.asarray(value[rows][:, columns])


def nearest_places(old: int, new: int, library: Library) -> Array:
    """The point of an axis that each of `new` ones is copied from, int64 [new].

    OpenCV takes the point at the upper left of each cell, Pillow the one in its middle.
    """
    shift, scale = (0.0, 1.0 / (new / old)) if library == "opencv" else (0.5, old / new)
    return np.asarray(np.minimum(np.floor((np.arange(new) + shift) * scale).astype(np.int64), old - 1))


# ---- OpenCV --------------------------------------------------------------------------------------------------------


def _opencv(value: Array, size: tuple[int, int], how: Interpolation, factors: Factors | None) -> Array:
    old, (height, width) = value.shape[:2], size
    shrinks = old[0] >= height and old[1] >= width
    if how == "area" and shrinks:
        return _area(value, height, width)
    by = factors or (None, None)
    taps = [neighbours(old[axis], new, how, axis, by[axis]) for axis, new in enumerate(size)]
    if value.dtype != np.uint8:
        return np.asarray(_weighed(_weighed(value, taps[1], 1), taps[0], 0), dtype=value.dtype)
    whole = [(places, whole_weights(weights)) for places, weights in taps]
    across = _weighed(value.astype(np.int64), whole[1], 1)
    if how in ("linear", "area"):
        places, weights = whole[0]
        terms = [(across[places[:, at]] >> 4) * weights[:, at, None, None] >> 16 for at in range(2)]
        return np.asarray(np.clip((terms[0] + terms[1] + 2) >> 2, 0, 255), dtype=np.uint8)
    if how == "cubic":
        return _down_in_floats(across, whole[0])
    down = _weighed(across, whole[0], 0)
    return np.asarray(np.clip((down + (1 << 21)) >> 22, 0, 255), dtype=np.uint8)


def _opencvs_cubic(part: Array) -> Array:
    """Keys' filter with a = -0.75 in float32, the last weight being what is left of 1 (`interpolateCubic`)."""
    a, one = np.float32(-0.75), np.float32(1)
    beyond, rest = part + one, one - part
    before = ((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a
    here, behind = (((a + 2) * x - (a + 3)) * x * x + one for x in (part, rest))
    return np.asarray(np.stack([before, here, behind, one - before - here - behind], 1))


def _down_in_floats(across: Array, rows: Taps) -> Array:
    """The last pass of bytes: of as many columns as fill a vector in float32, of those behind them in whole numbers."""
    shape = across.shape
    flat = across.reshape(shape[0], 1, -1)
    filled = flat.shape[2] // _VECTOR * _VECTOR
    places, weights = rows
    floats = weights.astype(np.float32) * np.float32(1 / _FINE)
    total = flat[places[:, -1], :, :filled].astype(np.float32) * floats[:, -1, None, None]
    for at in reversed(range(places.shape[1] - 1)):
        total = flat[places[:, at], :, :filled].astype(np.float32) * floats[:, at, None, None] + total
    behind = (_weighed(flat[:, :, filled:], rows, 0) + (1 << 21)) >> 22
    result = np.concatenate([np.rint(total).astype(np.int64), behind], axis=2)
    return np.asarray(np.clip(result, 0, 255), dtype=np.uint8).reshape(-1, *shape[1:])


def whole_weights(weights: Array) -> Array:
    """OpenCV's weights of uint8: multiples of 2⁻¹¹ (INTER_RESIZE_COEF_BITS), as whole numbers int64."""
    return np.asarray(np.rint(weights * _ONE), dtype=np.int64)


def neighbours(old: int, new: int, how: Interpolation, axis: int, factor: float | None = None) -> Taps:
    """The points around each new one. The ends of the axis are repeated.

    Places and weights are float32's of a scale that is rounded twice, as OpenCV's are: a byte may hang on it.
    """
    factor = factor or new / old
    scale = 1.0 / factor
    if how == "area":  # where the other axis grows, "area" is linear with weights of its own
        left = np.floor(np.arange(new) * scale)
        part = ((np.arange(new) + 1) - (left + 1) * factor).astype(np.float32)
        part = np.where(part <= 0, np.float32(0), part - np.floor(part))
    else:
        centre = ((np.arange(new) + 0.5) * scale - 0.5).astype(np.float32)
        left = np.floor(centre)
        part = centre - left
    if how in ("linear", "area"):
        if axis == 1:  # at the border a column's weight moves with its place, a row's does not
            part = np.where((left < 0) | (left >= old - 1), np.float32(0), part)
            left = np.clip(left, 0, old - 1)
        first, weights = left, np.stack([np.float32(1) - part, part], 1)
    elif how == "cubic":
        first, weights = left - 1, _opencvs_cubic(part)
    else:
        first, weights = left - 3, _filtered(part.astype(np.float64), range(-3, 5), _lanczos(4))
    places = first[:, None] + np.arange(weights.shape[1])
    return np.clip(places, 0, old - 1).astype(np.int64), weights


def _filtered(part: Array, offsets: range, kernel: Callable[[Array], Array]) -> Array:
    weights = kernel(np.asarray(offsets)[None, :] - part[:, None])
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _area(value: Array, height: int, width: int) -> Array:
    """The mean of the pixels that each new one covers, each counted by the part that is covered; in float32.

    Of whole pixels the sum is multiplied, and of four of them rounded up.
    """
    old = value.shape[:2]
    if value.dtype == np.uint8 and old[0] % height == 0 and old[1] % width == 0:
        blocks = value.reshape(height, old[0] // height, width, old[1] // width, -1).astype(np.int64)
        total, count = blocks.sum((1, 3)), blocks.shape[1] * blocks.shape[3]
        if blocks.shape[1] == blocks.shape[3] == 2:
            return np.asarray((total + 2) >> 2, dtype=np.uint8)
        return np.asarray(np.rint(total.astype(np.float32) * np.float32(1 / count)), dtype=np.uint8)
    taps = [_covered(side, new) for side, new in zip(old, (height, width), strict=True)]
    kind = np.float64 if value.dtype == np.float64 else np.float32
    mean = _weighed(_weighed(value.astype(kind), taps[1], 1), taps[0], 0)
    return np.rint(mean).astype(np.uint8) if value.dtype == np.uint8 else mean.astype(value.dtype)


def _covered(old: int, new: int) -> Taps:
    """The points that each new one covers, and their parts of it; less than a thousandth of a point is left out."""
    scale = 1.0 / (new / old)
    begin = np.arange(new) * scale
    end, length = begin + scale, np.minimum(scale, old - begin)
    last = np.minimum(np.floor(end).astype(np.int64), old - 1)
    first = np.minimum(np.ceil(begin).astype(np.int64), last)
    places = (first - 1)[:, None] + np.arange(int((last - first).max()) + 2)
    weights = np.where((places >= first[:, None]) & (places < last[:, None]), 1.0, 0.0)
    before, behind = first - begin, np.minimum(np.minimum(end - last, 1.0), length)
    weights[:, 0] = np.where(before > _LEAST, before, 0.0)
    rows = np.arange(new)
    weights[rows, last - first + 1] = np.where(end - last > _LEAST, behind, 0.0)
    return np.clip(places, 0, old - 1), (weights / length[:, None]).astype(np.float32)


# ---- Pillow --------------------------------------------------------------------------------------------------------


def _pillow(
    value: Array, passes: Sequence[tuple[int, int]], how: Interpolation, lengths: Sequence[float] | None = None
) -> Array:
    """One axis, then the other, each to its size and rounded to uint8; an axis whose size stays is left alone."""
    result, lengths = value, lengths or value.shape[:2]
    for axis, new in passes:
        if result.shape[axis] == new == lengths[axis]:
            continue
        rounds = value.dtype == np.uint8
        places, weights = _widened(result.shape[axis], new, how, lengths[axis])
        if rounds:  # its weights of uint8 are multiples of 2⁻²²
            weights = np.where(weights < 0, np.ceil(weights * _FINE - 0.5), np.floor(weights * _FINE + 0.5)) / _FINE
        passed = _weighed(result.astype(np.float64), (places, weights), axis)
        result = np.clip(np.floor(passed + 0.5), 0, 255).astype(np.uint8) if rounds else passed.astype(value.dtype)
    return result


#: The filter of each interpolation, and how far it reaches.
_FILTERS: dict[str, tuple[Callable[[Any], Any], float]] = {}


def reduced(value: Array, height: int, width: int, how: Interpolation, library: Library) -> Array:
    """Resize as Pillow's `thumbnail` does: first by means of whole blocks, to no less than twice the size.

    A side that the blocks do not divide counts as the part of a block that it is.
    """
    old = value.shape[:2]
    blocks = tuple(max(int(side / new / 2.0), 1) for side, new in zip(old, (height, width), strict=True))
    if old == (height, width) or blocks == (1, 1):
        return resample(value, height, width, how, library)
    small = _means(value, *blocks)
    lengths = [float(np.float32(side / block)) for side, block in zip(old, blocks, strict=True)]
    return _pillow(small, _passes(small, height, width, library), how, lengths)


def _passes(value: Array, height: int, width: int, library: Library) -> tuple[tuple[int, int], ...]:
    """Each axis with its new size, in the order in which they are resized."""
    rows, columns = value.shape[0] - height, value.shape[1] - width
    vertical_first = library == "pillow13" and rows > max(0, 2 * columns)
    return ((0, height), (1, width)) if vertical_first else ((1, width), (0, height))


def _means(value: Array, rows: int, columns: int) -> Array:
    """The rounded mean of each block, of those at the right and below of what there is (Reduce.c, 11)."""
    places = [np.arange(0, size, step) for size, step in zip(value.shape[:2], (rows, columns), strict=True)]
    sums = np.add.reduceat(np.add.reduceat(value.astype(np.int64), places[0], 0), places[1], 1)
    counts = [np.diff(np.append(at, size)) for at, size in zip(places, value.shape[:2], strict=True)]
    count = (counts[0][:, None] * counts[1])[:, :, None]
    factor = np.floor(float(1 << 32) / (256 * count)).astype(np.int64)
    return np.asarray(((sums + count // 2) * factor) >> 24, dtype=np.uint8)


def _widened(old: int, new: int, how: Interpolation, length: float) -> Taps:
    """The points around each new one; all of them stand for `length` of the `old` ones."""
    kernel, reach = _FILTERS[how]
    scale = length / new
    wide = max(scale, 1.0)
    support = reach * wide
    centre = (np.arange(new) + 0.5) * scale
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + support + 0.5).astype(np.int64), old)
    places = first[:, None] + np.arange(int((last - first).max()))
    weights = kernel((places + 0.5 - centre[:, None]) / wide)
    weights = np.where(places < last[:, None], weights, 0.0)
    return np.minimum(places, old - 1), weights / weights.sum(1, keepdims=True)


# ---- filters -------------------------------------------------------------------------------------------------------


def _weighed(value: Array, taps: Taps, axis: int) -> Array:
    """The sum of the neighbours along an axis, each times its weight."""
    places, weights = taps
    shape = (-1, 1, 1) if axis == 0 else (1, -1, 1)
    terms = (value.take(places[:, at], axis) * weights[:, at].reshape(shape) for at in range(places.shape[1]))
    total: Array = next(terms)
    for term in terms:
        total = total + term
    return total


def _cubic(a: float) -> Callable[[Array], Array]:
    """Keys' filter."""

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = (((x - 5) * x + 8) * x - 4) * a
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    return kernel


def _lanczos(lobes: int) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        return np.asarray(np.where(np.abs(x) < lobes, np.sinc(x) * np.sinc(x / lobes), 0.0))

    return kernel


def _triangle(x: Array) -> Array:
    return np.asarray(np.maximum(1 - np.abs(x), 0.0))


def _box(x: Array) -> Array:
    return np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0)


_FILTERS |= {
    "linear": (_triangle, 1.0),
    "cubic": (_cubic(-0.5), 2.0),
    "area": (_box, 0.5),
    "lanczos": (_lanczos(3), 3.0),
}
