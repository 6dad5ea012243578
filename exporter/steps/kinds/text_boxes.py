"""The boxes of a text detector's map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from exporter.steps.base import VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The shortest side of a box, in pixels of the map; behind the unclipping two more.
_SHORTEST = 3
#: How far the arc of a corner may be from a circle, in pixels (Clipper's default).
_ARC = 0.25


class TextBoxes(Step):
    """Of probabilities [1, height, width] the boxes of text as int32 [boxes, 4 corners, 2], in pixels of the map.

    As PaddleOCR's `DBPostProcess` with `box_type: quad` does: the borders of what lies above `threshold`, the last
    `most` of them, each as the smallest rectangle around it; those whose mean probability is at least `score` grow by
    `unclip` times their area over their length. `dilate` widens what lies above by a pixel; the mean is that `within`
    the `box`, or the `contour`. `scores` in the state holds the means, float32. Scaling to the picture is left to the
    runtime.
    """

    axes: ClassVar[Sequence[int]] = (2, 3)
    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "float64")

    threshold: float = 0.3
    score: float = 0.7
    most: Annotated[int, Field(ge=1)] = 1000
    unclip: Annotated[float, Field(gt=0)] = 2.0
    dilate: bool = False
    within: Literal["box", "contour"] = "box"

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after = super().apply(state)
        framed = self._found(_map(state[VALUE]))
        return {**after, "scores": np.asarray([score for _, score in framed], "float32")}

    def run(self, value: Array) -> Array:
        import numpy as np

        boxes = [box for box, _ in self._found(_map(value))]
        return np.asarray(boxes, "int32").reshape(-1, 4, 2)

    def _found(self, likely: Array) -> list[tuple[Array, float]]:
        """Each box with its mean."""
        import numpy as np

        from exporter.steps.contours import borders, smallest_rectangle

        above = likely > self.threshold
        if self.dilate:  # a kernel of 2 x 2 whose anchor is below and at the right
            wide = np.pad(above, ((1, 0), (1, 0)))
            above = wide[1:, 1:] | wide[:-1, 1:] | wide[1:, :-1] | wide[:-1, :-1]
        framed: list[tuple[Array, float]] = []
        for border in borders(above)[: self.most]:
            box, shortest = smallest_rectangle(border)
            if shortest < _SHORTEST:
                continue
            mean = _mean(likely, box if self.within == "box" else border)
            if self.score > mean:
                continue
            grown, shortest = smallest_rectangle(_grown(box, self.unclip))
            if shortest >= _SHORTEST + 2:
                height, width = likely.shape
                framed.append((np.clip(np.rint(grown), 0, (width, height)).astype("int32"), mean))
        return framed


def _map(value: Array) -> Array:
    """The map of one channel: the first of several, as the original takes."""
    return value[0] if value.ndim == 3 else value


def _mean(likely: Array, corners: Array) -> float:
    """The mean within a polygon (`box_score_fast` and `box_score_slow`)."""
    import numpy as np

    from exporter.steps.contours import filled

    height, width = likely.shape
    ends = np.asarray([width - 1, height - 1])
    low = np.clip(np.floor(corners.min(0)).astype("int64"), 0, ends)
    high = np.clip(np.ceil(corners.max(0)).astype("int64"), 0, ends)
    tall, wide = int(high[1] - low[1] + 1), int(high[0] - low[0] + 1)
    mask = filled((corners - low).astype("int64"), tall, wide)
    part = likely[low[1] : high[1] + 1, low[0] : high[0] + 1]
    return float(part[mask].astype("float64").mean())


def _grown(box: Array, ratio: float) -> Array:
    """The points around a box at a distance of `ratio` times its area over its length, as Clipper 6.4 rounds them.

    The corners are cut to whole pixels first, as pyclipper does; of a convex polygon the union that Clipper ends with
    changes nothing.
    """
    import numpy as np

    sides = np.roll(box, -1, axis=0) - box
    area = abs(float((box[:, 0] * np.roll(box[:, 1], -1) - np.roll(box[:, 0], -1) * box[:, 1]).sum())) / 2
    distance = area * ratio / float(np.linalg.norm(sides, axis=1).sum())
    corners = [tuple(corner) for corner in np.trunc(box).astype("int64").tolist()]
    corners = [corner for at, corner in enumerate(corners) if corner != corners[at - 1]]
    if sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)) < 0:
        corners = corners[::-1]
    arc = min(_ARC, distance * _ARC)
    steps = min(math.pi / math.acos(1 - arc / distance), distance * math.pi)
    turn = 2 * math.pi / steps
    normals = [_normal(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    points: list[tuple[int, int]] = []
    for at, (x, y) in enumerate(corners):
        before, behind = normals[at - 1], normals[at]
        sine = max(-1.0, min(1.0, before[0] * behind[1] - behind[0] * before[1]))
        cosine = before[0] * behind[0] + before[1] * behind[1]
        across, down = before
        for _ in range(max(_rounded(steps / (2 * math.pi) * abs(math.atan2(sine, cosine))), 1)):
            points.append((_rounded(x + across * distance), _rounded(y + down * distance)))
            across, down = (
                across * math.cos(turn) - math.sin(turn) * down,
                across * math.sin(turn) + down * math.cos(turn),
            )
        points.append((_rounded(x + behind[0] * distance), _rounded(y + behind[1] * distance)))
    return np.asarray(points, "int64")


def _normal(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[float, float]:
    across, down = b[0] - a[0], b[1] - a[1]
    length = math.hypot(across, down)
    return down / length, -across / length


def _rounded(number: float) -> int:
    """Half away from zero."""
    return int(number - 0.5) if number < 0 else int(number + 0.5)


plugin: type[Step] = TextBoxes
