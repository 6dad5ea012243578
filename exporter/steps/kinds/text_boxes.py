"""The boxes of a text detector's map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from exporter.steps.base import VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The shortest side of a box, in pixels of the map; behind the unclipping two more.
_SHORTEST = 3
#: How far a polygon may be from its border, over the length of that.
_OF_LENGTH = 0.002


class TextBoxes(Step):
    """Of probabilities [1, height, width] the boxes of text as int32 [boxes, 4 corners, 2], in pixels of the map.

    As PaddleOCR's `DBPostProcess` does: the borders of what lies above `threshold`, the last `most` of them, each as
    the smallest rectangle around it; those whose mean probability is at least `score` grow by `unclip` times their area
    over their length. `dilate` widens what lies above by a pixel; the mean is that `within` the `box`, or the
    `contour`. `scores` in the state holds the means, float32. Scaling to the picture is left to the runtime.

    With `form: poly` each border stays what it is but for 0.002 of its length, and those that are no single piece when
    grown are left out: the points of all boxes as int32 [points, 2], and in the state `corners`, int64 [boxes], how
    many each box has. Each begins at its topmost corner.
    """

    axes: ClassVar[Sequence[int]] = (2, 3)
    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "float64")

    threshold: float = 0.3
    score: float = 0.7
    most: Annotated[int, Field(ge=1)] = 1000
    unclip: Annotated[float, Field(gt=0)] = 2.0
    dilate: bool = False
    within: Literal["box", "contour"] = "box"
    form: Literal["quad", "poly"] = "quad"

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after, found = super().apply(state), self._found(_map(state[VALUE]))
        after["scores"] = np.asarray([score for _, score in found], "float32")
        if self.form == "poly":
            after["corners"] = np.asarray([len(box) for box, _ in found], "int64")
        return after

    def run(self, value: Array) -> Array:
        import numpy as np

        boxes = [box for box, _ in self._found(_map(value))]
        if self.form == "poly":
            return np.concatenate([np.zeros((0, 2), "int32"), *boxes])
        return np.asarray(boxes, "int32").reshape(-1, 4, 2)

    def _found(self, likely: Array) -> list[tuple[Array, float]]:
        """Each box with its mean."""
        import numpy as np

        from exporter.steps.contours import borders

        above = likely > self.threshold
        if self.dilate:  # a kernel of 2 x 2 whose anchor is below and at the right
            wide = np.pad(above, ((1, 0), (1, 0)))
            above = wide[1:, 1:] | wide[:-1, 1:] | wide[1:, :-1] | wide[:-1, :-1]
        shape = self._polygon if self.form == "poly" else self._rectangle
        framed = [shape(border, likely) for border in borders(above)[: self.most]]
        return [box for box in framed if box is not None]

    def _rectangle(self, border: Array, likely: Array) -> tuple[Array, float] | None:
        from exporter.steps.contours import smallest_rectangle
        from exporter.steps.polygons import area_over_length, around

        box, shortest = smallest_rectangle(border)
        if shortest < _SHORTEST:
            return None
        mean = _mean(likely, box if self.within == "box" else border)
        if self.score > mean:
            return None
        grown, shortest = smallest_rectangle(around(box, area_over_length(box) * self.unclip))
        return (_inside(grown, likely), mean) if shortest >= _SHORTEST + 2 else None

    def _polygon(self, border: Array, likely: Array) -> tuple[Array, float] | None:
        from exporter.steps.contours import smallest_rectangle
        from exporter.steps.polygons import area_over_length, around, corners, enclosed, length, simplified

        turns = corners(border)
        points = simplified(turns, _OF_LENGTH * length(turns))
        if len(points) < 4:
            return None
        mean = _mean(likely, points.astype("float64"))
        if self.score > mean:
            return None
        grown = enclosed(around(points, area_over_length(points) * self.unclip))
        if len(grown) != 1 or smallest_rectangle(grown[0])[1] < _SHORTEST + 2:
            return None
        return _inside(grown[0], likely), mean


def _inside(box: Array, likely: Array) -> Array:
    """Whole corners within the map."""
    import numpy as np

    height, width = likely.shape
    return np.asarray(np.clip(np.rint(box), 0, (width, height)), "int32")


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


plugin: type[Step] = TextBoxes
