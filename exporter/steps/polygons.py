"""Polygons of whole points: simplified as OpenCV does, and grown as Clipper does, in NumPy.

OpenCV's rules are those of `approxPolyDP` (modules/imgproc/src/approx.cpp 4.10), Clipper's those of `ClipperOffset`
with round joins (clipper.cpp 6.4). Points are [column, row].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: How far the arc of a corner may be from a circle, in pixels (Clipper's default).
_ARC = 0.25
#: How far beside a part of a line is looked whether the line goes around there, in pixels.
_ASIDE = 1e-3
#: A point as column and row; and a direction.
Point: TypeAlias = tuple[int, int]
Direction: TypeAlias = tuple[float, float]


# ---- fewer points ----------------------------------------------------------------------------------------------------


def corners(border: Array) -> Array:
    """Return the points of a closed border where it turns, int64 [points, 2] (`CHAIN_APPROX_SIMPLE`)."""
    ahead = np.roll(border, -1, axis=0) - border
    turns = (ahead != np.roll(ahead, 1, axis=0)).any(1)
    return border[turns] if len(border) > 1 else border


def length(points: Array) -> float:
    """The length of a closed line, each of its parts rounded to float32 (`arcLength`)."""
    steps = (points - np.roll(points, 1, axis=0)).astype("float32")
    return float(np.sqrt((steps * steps).sum(1)).astype("float64").sum())


def simplified(points: Array, distance: float) -> Array:
    """Return the points of a closed line without those that are at most `distance` from it (`approxPolyDP`)."""
    listed = [(int(x), int(y)) for x, y in points.tolist()]
    kept = _farthest(listed, distance * distance)
    return np.asarray(_straightened(kept, distance * distance), "int64").reshape(-1, 2)


def _farthest(points: Sequence[Point], square: float) -> list[Point]:
    """Douglas and Peucker's points, from two that lie far from each other."""
    count = len(points)
    start, ahead, most = 0, 0, 0
    for _ in range(3):  # from a point to the one farthest from it, and so on
        start = (start + ahead) % count
        apart = [(points[(start + step) % count], step) for step in range(1, count)]
        distances = [(_square(points[start], point), -step) for point, step in apart]
        most, ahead = max(distances, default=(0, 0))
        ahead = -ahead if most > 0 else 0
    if most <= square:
        return [points[start]]
    kept: list[Point] = []
    other = (start + ahead) % count
    stack = [(other, start), (start, other)]
    while stack:
        first, last = stack.pop()
        a, b = points[first], points[last]
        dx, dy = b[0] - a[0], b[1] - a[1]
        between = range(first + 1, last if last > first else last + count)
        off = [(abs((points[at % count][1] - a[1]) * dx - (points[at % count][0] - a[0]) * dy), -at) for at in between]
        most, at = max(off, default=(0, 0))
        if most * most <= square * (dx * dx + dy * dy):
            kept.append(a)
        else:
            stack += [(-at % count, last), (first, -at % count)]
    return kept


def _straightened(points: list[Point], square: float) -> list[Point]:
    """The points without those that lie almost on the line between their neighbours."""
    count = left = len(points)
    result = list(points)
    before, here, read = points[-1], points[0], 1 % count
    write = step = 0
    while step < count and left > 2:
        behind = result[read]
        read = (read + 1) % count
        dx, dy = behind[0] - before[0], behind[1] - before[1]
        off = abs((here[0] - before[0]) * dy - (here[1] - before[1]) * dx)
        onward = (here[0] - before[0]) * (behind[0] - here[0]) + (here[1] - before[1]) * (behind[1] - here[1])
        if off * off <= 0.5 * square * (dx * dx + dy * dy) and dx and dy and onward >= 0:
            left -= 1
            result[write] = before = behind
            write = (write + 1) % count
            here, read = result[read], (read + 1) % count
            step += 2
            continue
        result[write] = before = here
        write = (write + 1) % count
        here = behind
        step += 1
    return result[:left]


def _square(a: Point, b: Point) -> int:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


# ---- growing ---------------------------------------------------------------------------------------------------------


def area_over_length(points: Array) -> float:
    """A polygon's area over the length of its line."""
    across, down = points[:, 0], points[:, 1]
    area = abs(float((across * np.roll(down, -1) - np.roll(across, -1) * down).sum())) / 2
    return area / float(np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1).sum())


def around(points: Array, distance: float) -> Array:
    """Return the points of the line at a distance around a polygon, int64 [points, 2]; it may cross itself.

    Corners are cut to whole pixels first, as pyclipper does.
    """
    whole = [(int(x), int(y)) for x, y in np.trunc(points).tolist()]
    listed = [point for at, point in enumerate(whole) if point != whole[at - 1]]
    if len(listed) < 3 or distance <= 0:
        return np.zeros((0, 2), "int64")
    ahead = [*listed[1:], listed[0]]
    if sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(listed, ahead, strict=True)) < 0:
        listed = listed[::-1]
        ahead = [*listed[1:], listed[0]]
    arc = min(_ARC, distance * _ARC)
    steps = min(math.pi / math.acos(1 - arc / distance), distance * math.pi)
    normals = [_normal(a, b) for a, b in zip(listed, ahead, strict=True)]
    line = [
        point
        for at, corner in enumerate(listed)
        for point in _corner(corner, normals[at - 1], normals[at], (distance, steps))
    ]
    return np.asarray(line, "int64")


def _corner(corner: Point, before: Direction, behind: Direction, by: tuple[float, float]) -> list[Point]:
    """The points around one corner: an arc; at one that goes inward a way over the corner itself."""
    distance, steps = by
    sine = before[0] * behind[1] - behind[0] * before[1]
    cosine = before[0] * behind[0] + before[1] * behind[1]
    if abs(sine * distance) < 1 and cosine > 0:
        return [_beside(corner, before, distance)]
    sine = max(-1.0, min(1.0, sine))
    if sine < 0:
        return [_beside(corner, before, distance), corner, _beside(corner, behind, distance)]
    turn = 2 * math.pi / steps
    points: list[Point] = []
    direction = before
    for _ in range(max(_rounded(steps / (2 * math.pi) * abs(math.atan2(sine, cosine))), 1)):
        points.append(_beside(corner, direction, distance))
        across, down = direction
        direction = (
            across * math.cos(turn) - math.sin(turn) * down,
            across * math.sin(turn) + down * math.cos(turn),
        )
    return [*points, _beside(corner, behind, distance)]


def _beside(point: Point, direction: Direction, distance: float) -> Point:
    return _rounded(point[0] + direction[0] * distance), _rounded(point[1] + direction[1] * distance)


def _normal(a: Point, b: Point) -> Direction:
    across, down = b[0] - a[0], b[1] - a[1]
    size = math.hypot(across, down)
    return down / size, -across / size


def _rounded(number: float) -> int:
    """Half away from zero."""
    return int(number - 0.5) if number < 0 else int(number + 0.5)


# ---- what a line that crosses itself encloses ------------------------------------------------------------------------


def enclosed(line: Array) -> list[Array]:
    """Return the borders of what a closed line goes around at least once, int64 [points, 2] each: outer ones and holes.

    As Clipper's union with `pftPositive`: crossings are rounded to whole points, and points on straight parts left out,
    as is what has no area. Each border begins at its topmost point, of these at the left one.
    """
    starts = line[(line != np.roll(line, 1, axis=0)).any(1)].astype("float64")
    if len(starts) < 3:
        return []
    sides = _bordering(starts, *_parts(starts))
    loops = [_without_straight(loop) for loop in _loops(sides)]
    return [loop for loop in loops if abs(_cross(loop, np.roll(loop, -1, axis=0)).sum()) > 1]


def _parts(starts: Array) -> tuple[Array, Array]:
    """The parts of the line's segments between their crossings: where each begins and ends, float64 [parts, 2]."""
    ways = np.roll(starts, -1, axis=0) - starts
    count = len(starts)
    apart = starts[None] - starts[:, None]
    across = _cross(ways[:, None], ways[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        places = _cross(apart, ways[None]) / across  # of the first segment, where it meets the second
        others = _cross(apart, ways[:, None]) / across
    meets = (across != 0) & (places >= 0) & (places <= 1) & (others >= 0) & (others <= 1)
    first, second = [], []
    for at in range(count):
        cuts = starts[at] + places[at, meets[at]][:, None] * ways[at]
        on_line = _on(starts, starts[at], ways[at])  # ends of segments that lie along this one
        points = np.concatenate([starts[at][None], cuts, starts[on_line], (starts[at] + ways[at])[None]])
        order = np.argsort(((points - starts[at]) * ways[at]).sum(1), kind="stable")
        points = points[order].round(6)
        points = points[np.append(True, (points[1:] != points[:-1]).any(1))]
        first += points[:-1].tolist()
        second += points[1:].tolist()
    return np.asarray(first), np.asarray(second)


def _on(points: Array, start: Array, way: Array) -> Array:
    along = ((points - start) * way).sum(1)
    return np.asarray((_cross(points - start, way) == 0) & (along > 0) & (along < (way * way).sum()))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _bordering(starts: Array, first: Array, second: Array) -> list[tuple[Direction, Direction]]:
    """The parts at whose one side the line goes around and at whose other it does not; the inside at the same side."""
    ways = second - first
    aside = np.stack([-ways[:, 1], ways[:, 0]], 1) / np.linalg.norm(ways, axis=1, keepdims=True) * _ASIDE
    middle = (first + second) / 2
    inner, outer = _times_around(starts, middle + aside) > 0, _times_around(starts, middle - aside) > 0
    ends = list(zip(map(tuple, first.tolist()), map(tuple, second.tolist()), strict=True))
    sides = [pair for pair, here, there in zip(ends, inner, outer, strict=True) if here and not there]
    sides += [pair[::-1] for pair, here, there in zip(ends, inner, outer, strict=True) if there and not here]
    return list(dict.fromkeys(sides))


def _times_around(starts: Array, points: Array) -> Array:
    """How often the line goes around each point, int64: counted along a ray to the right."""
    ends = np.roll(starts, -1, axis=0)
    x, y = points[:, 0, None], points[:, 1, None]
    left = (ends[:, 0] - starts[:, 0]) * (y - starts[:, 1]) - (x - starts[:, 0]) * (ends[:, 1] - starts[:, 1])
    up = (starts[:, 1] <= y) & (ends[:, 1] > y) & (left > 0)
    down = (starts[:, 1] > y) & (ends[:, 1] <= y) & (left < 0)
    return np.asarray(up.sum(1) - down.sum(1), "int64")


def _loops(sides: Sequence[tuple[Direction, Direction]]) -> list[list[Direction]]:
    """The parts joined end to end; where several go on, the one that turns most to the inside."""
    going: dict[Direction, list[Direction]] = {}
    for start, end in sides:
        going.setdefault(start, []).append(end)
    loops = []
    for start in going:
        while going[start]:
            loop, now = [start], going[start].pop()
            while now != start and going.get(now):
                before = loop[-1]
                loop.append(now)
                chosen = max(going[now], key=lambda end: _turning(before, loop[-1], end))
                going[now].remove(chosen)
                now = chosen
            loops.append(loop)
    return loops


def _turning(a: Direction, b: Direction, c: Direction) -> float:
    into, out = (b[0] - a[0], b[1] - a[1]), (c[0] - b[0], c[1] - b[1])
    return math.atan2(into[0] * out[1] - into[1] * out[0], into[0] * out[0] + into[1] * out[1])


def _without_straight(loop: Sequence[Direction]) -> Array:
    """Whole points, without those that lie on the line between their neighbours; the topmost one first."""
    points = [(_rounded(x), _rounded(y)) for x, y in loop]
    at = 0
    while at < len(points) and len(points) > 2:
        a, b, c = points[at - 1], points[at], points[(at + 1) % len(points)]
        if b in (a, c) or (b[0] - a[0]) * (c[1] - b[1]) == (b[1] - a[1]) * (c[0] - b[0]):
            del points[at]
            at = max(at - 2, 0)
        else:
            at += 1
    top = min(range(len(points)), key=lambda place: points[place][::-1], default=0)
    return np.asarray([*points[top:], *points[:top]], "int64").reshape(-1, 2)
