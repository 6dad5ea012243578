"""Polygons, against numbers that OpenCV 4.10.0.84 and pyclipper 1.4.0 gave, and against hand-made ones.

On 60 maps of crooked blocks (`python -m evals.steps.own_code paddleocr=CHECKOUT`) `DBPostProcess` with `box_type: poly`
finds as many boxes as the step; 210 of 271 are equal, 60 differ by a pixel where the grown line crosses itself, one
by 3.
"""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.tensors import Array
from exporter.steps.base import VALUE
from exporter.steps.chain import read_chain
from exporter.steps.polygons import around, corners, enclosed, length, simplified

ANGLE = [[4, 4], [30, 4], [30, 12], [14, 12], [14, 40], [4, 40]]
CUP = [[4, 4], [12, 4], [12, 30], [30, 30], [30, 4], [38, 4], [38, 38], [4, 38]]


def ellipse() -> Array:
    turns = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    return np.stack([40 + 30 * np.cos(turns), 25 + 12 * np.sin(turns)], 1).astype("int64")


def test_a_border_keeps_its_turns() -> None:
    square = [[1, 1], [1, 2], [1, 3], [2, 3], [3, 3], [3, 2], [3, 1], [2, 1]]
    assert corners(np.asarray(square)).tolist() == [[1, 1], [1, 3], [3, 3], [3, 1]]
    assert corners(np.asarray([[5, 5]])).tolist() == [[5, 5]]
    assert length(np.asarray([[0, 0], [3, 4]])) == 10


@pytest.mark.parametrize(
    ("distance", "points"),
    [
        (1.0, [[70, 25], [62, 33], [40, 37], [17, 33], [10, 27], [10, 22], [15, 17], [24, 14], [49, 13], [64, 17]]),
        (3.0, [[70, 25], [62, 33], [40, 37], [17, 33], [10, 22], [24, 14], [49, 13], [64, 17]]),
        (100.0, [[70, 25]]),
    ],
)
def test_a_line_is_simplified_as_opencv_does(distance: float, points: list[list[int]]) -> None:
    assert length(ellipse()) == 140.48861598968506
    assert simplified(ellipse(), distance).tolist() == points


@pytest.mark.parametrize(
    ("polygon", "distance", "corners_"),
    [
        (ANGLE, 4.5, "-1,4 0,1 4,-1 30,-1 33,0 35,4 35,12 34,15 30,17 19,17 19,40 18,43 14,45 4,45 1,44 -1,40"),
        (
            *(CUP, 3.0),
            "1,4 2,2 4,1 12,1 14,2 15,4 15,27 27,27 27,4 28,2 30,1 38,1 40,2 41,4 41,38 40,40 38,41 4,41 2,40 1,38",
        ),
        (
            *(CUP, 12.0),  # what lies in the cup is filled
            "-8,4 -7,-1 -4,-5 0,-7 4,-8 12,-8 17,-7 21,-4 22,-5 26,-7 30,-8 38,-8 43,-7 47,-4 49,0 50,4 50,38 49,43 "
            "46,47 42,49 38,50 4,50 -1,49 -5,46 -7,42 -8,38",
        ),
    ],
    ids=["angle", "cup", "full cup"],
)
def test_a_polygon_grows_as_clippers_does(polygon: list[list[int]], distance: float, corners_: str) -> None:
    wanted = {tuple(map(int, corner.split(","))) for corner in corners_.split()}
    for points in (polygon, polygon[::-1]):
        (grown,) = enclosed(around(np.asarray(points), distance))
        assert {tuple(point) for point in grown.tolist()} == wanted and len(grown) == len(wanted)
        assert grown[0].tolist() == min(grown.tolist(), key=lambda point: point[::-1])


def test_a_hole_is_a_border_of_its_own() -> None:
    """A ring that is almost closed: grown, its ends meet, and a hole stays."""
    ring = [[0, 0], [40, 0], [40, 40], [0, 40], [0, 22], [8, 22], [8, 32], [32, 32], [32, 8], [8, 8], [8, 18], [0, 18]]
    outer, hole = enclosed(around(np.asarray(ring), 4.0))
    assert len(outer) > 4 and hole[0].tolist() == [12, 12]
    assert sorted(hole.tolist()) == [[11, 20], [12, 12], [12, 18], [12, 22], [12, 28], [28, 12], [28, 28]]
    assert enclosed(around(np.asarray(ANGLE), 0.0)) == [] and enclosed(np.zeros((0, 2), "int64")) == []


@pytest.mark.parametrize(("score", "boxes", "means"), [(0.7, [21], [0.9]), (0.4, [16, 21], [0.5, 0.9]), (0.95, [], [])])
def test_polygons_of_text_are_those_of_paddleocr(score: float, boxes: list[int], means: list[float]) -> None:
    page = np.zeros((1, 48, 64), "float32")
    page[0, 4:14, 6:54] = page[0, 4:40, 6:16] = 0.9
    page[0, 28:40, 38:60] = 0.5
    (link,) = read_chain([{"text_boxes": {"form": "poly", "score": score}}])
    state = link.apply({VALUE: page})
    assert state["corners"].tolist() == boxes and state["scores"].tolist() == pytest.approx(means)
    assert state[VALUE].shape == (sum(boxes), 2) and state[VALUE].dtype == np.int32
    if boxes:
        last = state[VALUE][-boxes[-1] :].tolist()
        angle = (
            "0,0 6,0 53,0 57,0 60,0 61,4 61,13 60,17 57,20 53,21 23,21 23,39 22,43 19,46 15,47 6,47 2,46 0,43 0,39 0,4"
        )
        assert {tuple(point) for point in last} == {
            tuple(map(int, point.split(","))) for point in f"{angle} 2,0".split()
        }
