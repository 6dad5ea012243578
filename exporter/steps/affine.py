"""Moving and scaling a picture in NumPy, by the rules of OpenCV up to 4.10 (modules/imgproc/src/imgwarp.cpp).

Places are rounded to 32nds of a pixel and weights are whole numbers of 15 bits. From 4.11 on OpenCV computes in floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: One row of an affine map: what a column, a row and 1 are multiplied by.
Row: TypeAlias = tuple[float, float, float]
#: Bits behind the point: of the steps along a row, and of places; and of weights.
_STEP, _PLACE, _WEIGHT = 10, 5, 15


def similar(value: Array, centre: tuple[float, float], width: float, size: tuple[int, int]) -> Array:
    """Bring a picture's `centre` (column, row) to the middle of a frame of `size` (width, height).

    It is scaled so that `width` of its pixels fill that of the frame. PaddleDetection's `get_affine_transform` gives
    OpenCV three points of each side, in float32.
    """
    source = _three(centre, width)
    target = _three((size[0] * 0.5, size[1] * 0.5), size[0])
    system = np.zeros((6, 7))
    for at, (point, aim) in enumerate(zip(source, target, strict=True)):
        system[2 * at] = [*point, 1, 0, 0, 0, aim[0]]
        system[2 * at + 1] = [0, 0, 0, *point, 1, aim[1]]
    a, b, c, d, e, f = _solved(system)
    scale = a * e - b * d
    scale = 1.0 / scale if scale else 0.0
    across, down = (e * scale, -b * scale), (-d * scale, a * scale)
    offsets = -across[0] * c - across[1] * f, -down[0] * c - down[1] * f
    return _sampled(value, ((*across, offsets[0]), (*down, offsets[1])), size)


def moved(value: Array, across: Row, down: Row, size: tuple[int, int]) -> Array:
    """Scale columns by `across[0]` and rows by `down[0]`, float32 as PaddleDetection's `get_warp_matrix` gives them."""
    factors = [float(np.float32(row[0])) for row in (across, down)]
    inverse = [1.0 / factor if factor else 0.0 for factor in factors]
    return _sampled(value, ((inverse[0], 0.0, 0.0), (0.0, inverse[1], 0.0)), size)


def _three(middle: tuple[float, float], width: float) -> list[list[float]]:
    """A point, the one half a width above it, and the one that stands at a right angle on that; rounded to float32."""
    first = np.asarray(middle, "float32")
    second = np.asarray([middle[0], middle[1] + width * -0.5], "float32")
    across, down = first - second
    third = second + np.asarray([-down, across], "float32")
    return [first.tolist(), second.tolist(), third.tolist()]


def _solved(system: Array) -> list[float]:
    """Gauss's elimination with the largest of a column first, in OpenCV's order: a last digit may decide on a byte."""
    rows = [[float(number) for number in row] for row in system]
    count = len(rows)
    for at in range(count):
        largest = at
        for row in range(at + 1, count):
            if abs(rows[row][at]) > abs(rows[largest][at]):
                largest = row
        rows[at], rows[largest] = rows[largest], rows[at]
        divisor = -1.0 / rows[at][at]
        for row in range(at + 1, count):
            factor = rows[row][at] * divisor
            rows[row] = [number + factor * above for number, above in zip(rows[row], rows[at], strict=True)]
    solution = [0.0] * count
    for at in reversed(range(count)):
        rest = rows[at][count]
        for column in range(at + 1, count):
            rest -= rows[at][column] * solution[column]
        solution[at] = rest / rows[at][at]
    return solution


def _sampled(value: Array, inverse: tuple[Row, Row], size: tuple[int, int]) -> Array:
    """Each pixel of the frame from the four around its place in the picture; those outside are black."""
    width, height = size
    columns, rows = np.arange(width), np.arange(height)
    half = 1 << (_STEP - _PLACE - 1)
    places = []
    for by_column, by_row, offset in inverse:
        along = np.rint(by_column * columns * (1 << _STEP)).astype("int64")
        start = np.rint((by_row * rows + offset) * (1 << _STEP)).astype("int64") + half
        places.append((start[:, None] + along) >> (_STEP - _PLACE))
    (column, right), (row, below) = ((place >> _PLACE, place & ((1 << _PLACE) - 1)) for place in places)
    framed = np.pad(value.astype("int64"), ((2, 2), (2, 2), (0, 0)))
    at_row, at_column = (
        np.clip(place, -2, limit) + 2 for place, limit in zip((row, column), value.shape[:2], strict=True)
    )
    one = 1 << _PLACE  # beyond the border lie two black pixels on each side
    total = np.zeros((height, width, value.shape[2]), "int64")
    for down, down_share in ((0, one - below), (1, below)):
        for across, across_share in ((0, one - right), (1, right)):
            weight = (down_share * across_share) << (_WEIGHT - 2 * _PLACE)
            total += framed[at_row + down, at_column + across] * weight[:, :, None]
    return np.asarray(np.clip((total + (1 << (_WEIGHT - 1))) >> _WEIGHT, 0, 255), dtype=np.uint8)
