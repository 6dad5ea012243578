"""Boxes on grids as ONNX: equal to eager at maps and pictures of any size, and at known ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paddle.vision import ops

from tests.export.lower.as_onnx import AsOnnx

ANCHORS = [10, 13, 16, 30, 33, 23]


@pytest.mark.parametrize("sizes", [("h", "w"), (5, "w"), ("h", 4), (5, 4)], ids=str)
@pytest.mark.parametrize("aware", [False, True], ids=["plain", "iou_aware"])
def test_boxes_of_a_yolo(sizes: tuple[int | str, ...], aware: bool, tmp_path: Path) -> None:
    """The picture is as high and wide as a tensor says; boxes of little confidence are zeros."""
    settings: Any = {"class_num": 2, "conf_thresh": 0.3, "downsample_ratio": 32, "scale_x_y": 1.05}
    settings |= {"iou_aware": aware, "iou_aware_factor": 0.4}
    channels = 3 * (8 if aware else 7)
    both = AsOnnx(
        lambda x, y: ops.yolo_box(x, y, ANCHORS, **settings),
        {"x": ("float32", ("n", channels, *sizes)), "y": ("int32", ("n", 2))},
        tmp_path,
    )
    draw = np.random.default_rng(3)
    for batch, *grid in ((1, 5, 4), (3, 2, 7)):
        high, wide = (size if isinstance(size, int) else drawn for size, drawn in zip(sizes, grid, strict=True))
        x = draw.standard_normal((batch, channels, high, wide)).astype("float32")
        both.must_equal_eager({"x": x, "y": draw.integers(90, 200, (batch, 2)).astype("int32")})


def test_boxes_that_are_not_clipped(tmp_path: Path) -> None:
    both = AsOnnx(
        lambda x, y: ops.yolo_box(x, y, ANCHORS, 2, 0.0, 8, clip_bbox=False),
        {"x": ("float32", (1, 21, "h", "w")), "y": ("int32", (1, 2))},
        tmp_path,
    )
    x = np.random.default_rng(0).standard_normal((1, 21, 3, 6)).astype("float32")
    both.must_equal_eager({"x": x, "y": np.array([[20, 50]], "int32")})


@pytest.mark.parametrize("sizes", [("h", "w", "hh", "ww"), (3, "w", "hh", 40), (3, 5, 24, 40)], ids=str)
@pytest.mark.parametrize(
    "settings",
    [
        {"min_sizes": [4.0, 9.0], "max_sizes": [8.0, 20.0], "aspect_ratios": [2.0, 3.0], "flip": True, "clip": True},
        {"min_sizes": [7.0], "max_sizes": [12.0], "aspect_ratios": [0.5], "min_max_aspect_ratios_order": True},
        {"min_sizes": [5.0], "steps": [8.0, 6.0], "offset": 0.25, "variance": [0.1, 0.2, 0.3, 0.4]},
        {"min_sizes": [5.0], "steps": [8.0, 0.0]},  # Paddle then takes neither
    ],
    ids=["clipped", "ordered", "steps", "a_step"],
)
def test_priors(sizes: tuple[int | str, ...], settings: dict[str, Any], tmp_path: Path) -> None:
    both = AsOnnx(
        lambda x, y: [out + 0.0 * x.sum() for out in ops.prior_box(x, y, **settings)],
        {"x": ("float32", (1, 2, *sizes[:2])), "y": ("float32", (1, 3, *sizes[2:]))},
        tmp_path,
    )
    for drawn in ((3, 5, 24, 40), (2, 7, 30, 51)):
        high, wide, image_high, image_wide = (
            size if isinstance(size, int) else other for size, other in zip(sizes, drawn, strict=True)
        )
        both.must_equal_eager(
            {"x": np.ones((1, 2, high, wide), "float32"), "y": np.zeros((1, 3, image_high, image_wide), "float32")}
        )
