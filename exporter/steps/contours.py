"""Borders of regions, the rectangles around them, and what lies within: in NumPy, by the rules of OpenCV.

Borders are followed as `findContours` does (Suzuki and Abe 1985, modules/imgproc/src/contours.cpp 4.10), areas are
filled as `fillPoly` does (drawing.cpp): with their edges, drawn pixel by pixel. Points are [column, row].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The steps to the eight neighbours, as [column, row], against the clock from the right.
_NEIGHBOURS = ((1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1))
#: Marks of a pixel: on a border, and on one whose right neighbour is outside.
_SEEN, _RIGHT = 2, -126
#: The bits behind the point of `fillPoly`'s columns, and half a pixel in these.
_BITS, _HALF = 16, 1 << 15


def borders(mask: Array) -> list[Array]:
    """Return the outer borders and those of holes, int64 [points, 2] each, the last found first.

    `mask` is [height, width]; all but zero belongs to a region.
    """
    framed = np.pad((mask != 0).astype(np.int8), 1)
    inside = framed != 0
    starts = inside & ~np.roll(inside, 1, axis=1)  # left of the pixel is nothing
    ends = ~inside & np.roll(inside, 1, axis=1)
    outlines: list[Array] = []
    for row, column in np.argwhere(starts | ends):
        if starts[row, column] and framed[row, column] == 1:
            outlines.append(_followed(framed, row, column, hole=False))
        elif ends[row, column] and framed[row, column - 1] >= 1:
            outlines.append(_followed(framed, row, column - 1, hole=True))
    return outlines[::-1]


def _followed(framed: Array, row: int, column: int, *, hole: bool) -> Array:
    """One border from its first pixel on, whose pixels are marked."""
    first = int(column), int(row)
    start = 0 if hole else 4
    turns = [(start - turn) % 8 for turn in range(1, 9)]
    side = next((side for side in turns if framed[_beside(first, side)[::-1]] != 0 and side != start), None)
    if side is None:
        framed[row, column] = _RIGHT
        return np.asarray([first]) - 1
    last = _beside(first, side)
    now, points = first, []
    while True:
        begin = side
        side = next(turn for turn in range(begin + 1, begin + 9) if framed[_beside(now, turn % 8)[::-1]] != 0) % 8
        if (side - 1) % (1 << 32) < begin:  # as unsigned numbers: the right neighbour was looked at, and is outside
            framed[now[::-1]] = _RIGHT
        elif framed[now[::-1]] == 1:
            framed[now[::-1]] = _SEEN
        points.append(now)
        then = _beside(now, side)
        if then == first and now == last:
            return np.asarray(points) - 1
        now, side = then, (side + 4) % 8


def _beside(point: tuple[int, int], side: int) -> tuple[int, int]:
    across, down = _NEIGHBOURS[side]
    return point[0] + across, point[1] + down


def hull(points: Array) -> Array:
    """Return the corners of the convex hull of whole points, int64 [corners, 2]."""
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.asarray(ordered, "int64")
    chains = []
    for order in (ordered, ordered[::-1]):
        chain: list[list[int]] = []
        for x, y in order:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], (x, y)) <= 0:
                chain.pop()
            chain.append([x, y])
        chains.append(chain[:-1])
    return np.asarray([*chains[0], *chains[1]], "int64")


def _turn(a: list[int], b: list[int], c: tuple[int, int]) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def smallest_rectangle(points: Array) -> tuple[Array, float]:
    """Return the corners float64 [4, 2] of the smallest rectangle around whole points, and its shorter side.

    The corners are ordered as PaddleOCR's `get_mini_boxes` does: top left, top right, bottom right, bottom left.
    """
    corners = hull(points).astype("float64")
    if len(corners) < 3:
        ends = corners[[0, 0, -1, -1]]
        return _ordered(ends), 0.0
    edges = np.roll(corners, -1, axis=0) - corners
    along = edges / np.linalg.norm(edges, axis=1, keepdims=True)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    reach = corners @ along.T, corners @ across.T  # [corners, edges]
    low, high = (np.stack([extent.min(0) for extent in reach]), np.stack([extent.max(0) for extent in reach]))
    sides = high - low
    areas = sides[0] * sides[1]
    best = int(np.flatnonzero(areas <= areas.min() * (1 + 1e-9))[-1])
    places = ((low, low), (high, low), (high, high), (low, high))
    box = np.stack([a[0, best] * along[best] + b[1, best] * across[best] for a, b in places])
    near = np.rint(box)  # whole corners are whole: what is behind the point would be cut off
    return _ordered(np.where(np.abs(box - near) < 1e-6, near, box)), float(sides[:, best].min())


def _ordered(box: Array) -> Array:
    left, right = np.split(box[np.lexsort((box[:, 1], box[:, 0].round(4)))], 2)
    top, bottom = (left[0], left[1]) if left[1, 1] > left[0, 1] else (left[1], left[0])
    above, below = (right[0], right[1]) if right[1, 1] > right[0, 1] else (right[1], right[0])
    return np.stack([top, above, below, bottom])


def filled(corners: Array, height: int, width: int) -> Array:
    """Return which pixels of [height, width] lie within a polygon of whole corners or on its edges, bool."""
    mask = np.zeros((height, width), dtype=bool)
    crossings: dict[int, list[int]] = {}
    for start, end in zip(np.roll(corners, 1, axis=0).tolist(), corners.tolist(), strict=True):
        shown, (x0, y0), (x1, y1) = _clipped(tuple(start), tuple(end), width, height)
        if shown:
            _draw(mask, (x0, y0), (x1, y1))
        if start[1] == end[1]:
            continue
        if y0 == y1:  # no slope is left of what is inside
            (x0, y0), (x1, y1) = start, end
        slope = int(((x1 - x0) << _BITS) / (y1 - y0))
        (x, y) = (x0, y0) if start[1] < end[1] else (x1, y1)
        for row in range(min(start[1], end[1]), max(start[1], end[1])):
            crossings.setdefault(row, []).append((x << _BITS) + slope * (row - y))
    for row, columns in crossings.items():
        ordered = sorted(columns)
        for begin, end in zip(ordered[::2], ordered[1::2], strict=True):
            first, last = ((place + _HALF) >> _BITS for place in (begin, end))
            if 0 <= row < height and last >= 0:
                mask[row, max(first, 0) : last + 1] = True
    return mask


#: A pixel as column and row.
Pixel: TypeAlias = tuple[int, int]


def _clipped(start: Pixel, end: Pixel, width: int, height: int) -> tuple[bool, Pixel, Pixel]:
    """Return whether a line has pixels inside, and its ends as far as they are (`clipLine`)."""
    ends = [list(start), list(end)]
    for axis, size in ((1, height), (0, width)):
        if _beyond(ends[0], width, height) & _beyond(ends[1], width, height):
            break
        for point in ends:
            if not 0 <= point[axis] < size:
                edge = 0 if point[axis] < 0 else size - 1
                rise, run = (ends[1][at] - ends[0][at] for at in (1 - axis, axis))
                point[1 - axis] += int((edge - point[axis]) * rise / run)
                point[axis] = edge
    (x0, y0), (x1, y1) = ends
    shown = not _beyond(ends[0], width, height) and not _beyond(ends[1], width, height)
    return shown, (x0, y0), (x1, y1)


def _beyond(point: Sequence[int], width: int, height: int) -> frozenset[str]:
    """The sides at which a point lies outside."""
    x, y = point
    sides = {"left": x < 0, "right": x >= width, "above": y < 0, "below": y >= height}
    return frozenset(side for side, outside in sides.items() if outside)


def _draw(mask: Array, start: Pixel, end: Pixel) -> None:
    """A line of pixels from the left to the right end (`LineIterator`)."""
    (x, y), (x1, y1) = (start, end) if start[0] <= end[0] else (end, start)
    across, down = x1 - x, abs(y1 - y)
    step = 1 if y1 >= y else -1
    steep = down > across
    longer, shorter = (down, across) if steep else (across, down)
    error = longer - 2 * shorter
    for _ in range(longer + 1):
        if 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]:
            mask[y, x] = True
        both = error < 0
        error += 2 * longer - 2 * shorter if both else -2 * shorter
        x, y = x + (1 if not steep or both else 0), y + (step if steep or both else 0)
