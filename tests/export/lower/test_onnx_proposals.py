"""What an R-CNN proposes, as ONNX: the same boxes as eager, in its order, and an image that keeps none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle.vision import ops

from exporter.base.errors import ModelError
from tests.export.lower.as_onnx import AsOnnx, Feed


def proposed(batch: int, sides: tuple[int, int], seed: int, shrunk: int | None = None) -> Feed:
    """Maps of three anchors a cell; those of image `shrunk` all become too small."""
    draw, (high, wide) = np.random.default_rng(seed), sides
    deltas = draw.standard_normal((batch, 12, high, wide)) * 2
    if shrunk is not None:
        deltas[shrunk] = -20
    corner = draw.uniform(0, 8 * np.array([wide, high]), (high, wide, 3, 2))
    anchors = np.concatenate([corner, corner + draw.uniform(4, 40, corner.shape)], -1)
    return {
        "scores": draw.uniform(0, 1, (batch, 3, high, wide)).astype("float32"),
        "deltas": deltas.astype("float32"),
        "size": np.tile(np.array([8 * high, 8 * wide], "float32"), (batch, 1)),
        "anchors": anchors.astype("float32"),
    }


def as_proposals(folder: Path, dtype: str = "float32", **settings: Any) -> AsOnnx:
    shapes: Any = {
        "scores": (dtype, ("n", 3, "h", "w")),
        "deltas": (dtype, ("n", 12, "h", "w")),
        "size": (dtype, ("n", 2)),
        "anchors": (dtype, ("h", "w", 3, 4)),
    }

    def body(scores: Any, deltas: Any, size: Any, anchors: Any) -> Any:
        spread = paddle.full_like(anchors, 0.7)
        return ops.generate_proposals(scores, deltas, size, anchors, spread, return_rois_num=True, **settings)

    return AsOnnx(body, shapes, folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"pre_nms_top_n": 30, "post_nms_top_n": 9, "nms_thresh": 0.7, "min_size": 0.0},
        {"pre_nms_top_n": 0, "post_nms_top_n": 0, "nms_thresh": 0.3, "min_size": 6.0},
        {"pre_nms_top_n": 50, "post_nms_top_n": 20, "nms_thresh": 0.5, "min_size": 3.0, "pixel_offset": True},
    ],
    ids=["top", "all", "pixels"],
)
def test_proposals(settings: dict[str, Any], tmp_path: Path) -> None:
    both = as_proposals(tmp_path, **settings)
    both.must_equal_eager(proposed(2, (5, 4), 0))
    both.must_equal_eager(proposed(1, (1, 7), 1))
    both.must_equal_eager(proposed(3, (3, 6), 2, shrunk=1))


@pytest.mark.parametrize(
    ("dtype", "settings", "refusal"),
    [
        ("float64", {}, "float32, not for float64"),
        ("float32", {"nms_thresh": 0.0}, "that of a selection"),
        ("float32", {"nms_thresh": 0.7, "eta": 0.9}, "eta"),
    ],
    ids=["float64", "unsuppressed", "eta"],
)
def test_what_no_runtime_repeats_is_refused(dtype: str, settings: dict[str, Any], refusal: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=refusal):
        as_proposals(tmp_path, dtype, **settings)


@pytest.mark.parametrize("pixels", [False, True])
def test_levels_of_a_pyramid(pixels: bool, tmp_path: Path) -> None:
    def body(boxes: Any, counts: Any) -> Any:
        parts, restore, numbers = ops.distribute_fpn_proposals(
            boxes, 2, 5, 4, 224, pixel_offset=pixels, rois_num=counts
        )
        return [*parts, restore, *numbers]

    shapes: Any = {"boxes": ("float32", ("k", 4)), "counts": ("int32", ("n",))}
    both = AsOnnx(body, shapes, tmp_path)
    draw = np.random.default_rng(3)
    for counts in ([5, 0, 9], [1], [40, 30]):
        corner = draw.uniform(0, 50, (sum(counts), 2))
        side = np.where(draw.uniform(0, 1, corner.shape) < 0.5, 2.0 ** draw.integers(4, 11, corner.shape) * 7, 30.0)
        boxes = np.concatenate([corner, corner + side], 1)
        boxes[::4] = [[0, 0, 224, 224]]  # exactly the scale that is referred to
        boxes[1::7, 2:] = boxes[1::7, :2] - 3  # turned round
        both.must_equal_eager({"boxes": boxes.astype("float32"), "counts": np.array(counts, "int32")})
