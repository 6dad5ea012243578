"""Boxes of text, against numbers worked out by hand and those of PaddleOCR's own code.

PaddleOCR 3.1's `DBPostProcess` gave the latter with OpenCV 4.10.0.84, pyclipper 1.4.0 and shapely 2. On 300 random
maps the borders are OpenCV's, in their order, and 253 answers of 300 are equal; where one differs, two rectangles of a
border have the same area, or a corner is whole up to the rounding of float32. OpenCV 4.10 and 5.0 agree on 206 of 221.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from exporter.base.tensors import Array
from exporter.steps.base import VALUE
from exporter.steps.chain import read_chain
from exporter.steps.contours import borders, filled, hull, smallest_rectangle


def page() -> Array:
    """Two upright blocks, one with a hole, a turned line and a speck."""
    page = np.zeros((48, 64), "float32")
    page[6:14, 8:40] = 0.75
    page[24:36, 10:30] = 0.5
    page[40:42, 50:60] = 0.9
    for column in range(24):
        page[20 + column // 2 : 30 + column // 2, 36 + column] = 0.625
    page[28:32, 16:20] = 0
    return page


UPPER, BLOCK = [[2, 0], [45, 0], [45, 19], [2, 19]], [[3, 17], [36, 17], [36, 42], [3, 42]]
TURNED = [[32, 7], [64, 29], [61, 48], [18, 35]]


@pytest.mark.parametrize(
    ("options", "boxes", "scores"),
    [
        ({}, [UPPER], [0.75]),
        ({"score": 0.4}, [BLOCK, UPPER], [0.4667, 0.75]),
        (
            {"score": 0.4, "unclip": 1.5, "dilate": True},
            [[[4, 18], [36, 18], [36, 42], [4, 42]], [[3, 1], [45, 1], [45, 19], [3, 19]]],
            [0.4103, 0.6465],
        ),
        ({"score": 0.4, "within": "contour"}, [BLOCK, TURNED, UPPER], [0.4667, 0.6442, 0.75]),
        ({"score": 0.4, "most": 2}, [BLOCK], [0.4667]),
        ({"threshold": 0.95}, [], []),
    ],
    ids=str,
)
def test_boxes_are_those_of_paddleocr(options: dict[str, object], boxes: list[object], scores: list[float]) -> None:
    (link,) = read_chain([{"text_boxes": options}])
    state = link.apply({VALUE: page()[None]})
    assert state[VALUE].tolist() == boxes and state[VALUE].dtype == np.int32 and state[VALUE].shape[1:] == (4, 2)
    assert state["scores"].round(4).tolist() == pytest.approx(scores, abs=1e-6)


def test_a_box_grows_by_its_area_over_its_length() -> None:
    """31 x 7 pixels between the outer ones: by 2 * 217 / 76 = 5.71, and with 1.5 by 4.28."""
    for unclip, distance in ((2.0, 2 * 217 / 76), (1.5, 1.5 * 217 / 76)):
        (link,) = read_chain([{"text_boxes": {"unclip": unclip}}])
        left, top = link.apply({VALUE: page()[None]})[VALUE][0][0]
        assert (left, top) == (round(8 - distance), round(6 - distance))


def test_borders_are_followed_from_the_last_to_the_first() -> None:
    """By hand: a ring has an outer border of 8 pixels and one of its hole of 4; a pixel of its own has itself."""
    mask = np.zeros((6, 8), "uint8")
    mask[1:4, 1:4] = 1
    mask[2, 2] = 0
    mask[5, 7] = 1
    pixel, hole, ring = borders(mask)
    assert pixel.tolist() == [[7, 5]]
    assert hole.tolist() == [[1, 2], [2, 1], [3, 2], [2, 3]]
    assert ring.tolist() == [[1, 1], [1, 2], [1, 3], [2, 3], [3, 3], [3, 2], [3, 1], [2, 1]]


def test_the_smallest_rectangle_lies_along_a_side_of_the_hull() -> None:
    square = np.asarray([[0, 2], [2, 0], [4, 2], [2, 4], [2, 2]])
    assert sorted(hull(square).tolist()) == [[0, 2], [2, 0], [2, 4], [4, 2]]
    box, shortest = smallest_rectangle(square)
    assert box.tolist() == [[2, 0], [4, 2], [2, 4], [0, 2]] and shortest == pytest.approx(math.sqrt(8))
    for line in ([[3, 1]], [[3, 1], [5, 1], [4, 1]]):
        box, shortest = smallest_rectangle(np.asarray(line))
        assert shortest == 0 and box.shape == (4, 2)


def test_a_polygon_is_filled_with_its_edges() -> None:
    """A square on its corner, and one that reaches over the map."""
    corners = np.asarray([[2, 0], [4, 2], [2, 4], [0, 2]])
    assert filled(corners, 5, 5).sum(1).tolist() == [1, 3, 5, 3, 1]
    assert filled(np.asarray([[-2, -2], [1, -2], [1, 1], [-2, 1]]), 3, 3).tolist() == [
        [True, True, False],
        [True, True, False],
        [False, False, False],
    ]
