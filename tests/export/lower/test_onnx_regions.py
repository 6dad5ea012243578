"""Pooling of regions as ONNX: equal to eager at boxes of any size, at and beyond the borders, and at none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paddle.vision import ops

from exporter.base.errors import ModelError
from tests.export.lower.as_onnx import AsOnnx, Feed


def regions(planes: tuple[int, ...], counts: list[int], scale: float, seed: int = 0) -> Feed:
    """Boxes of which some are turned round, some lie outside, and the corners of some are halves."""
    draw, (high, wide), number = np.random.default_rng(seed), planes[2:], sum(counts)
    boxes = draw.uniform(-0.3, 1.3, (number, 4)) * np.array([wide, high, wide, high]) / scale
    boxes[::2, 2:] = np.maximum(boxes[::2, 2:], boxes[::2, :2])
    boxes[::3] = np.round(boxes[::3] * 2) / 2
    boxes[5:6] = np.nextafter(np.float32(0.5), np.float32(0))
    x = draw.standard_normal(planes)
    return {"x": x.astype("float32"), "boxes": boxes.astype("float32"), "counts": np.array(counts, "int32")}


def of_regions(
    pool: Callable[..., Any], size: Any, scale: float, planes: tuple[int | str, ...], folder: Path
) -> AsOnnx:
    shapes: Any = {"x": ("float32", planes), "boxes": ("float32", ("boxes", 4)), "counts": ("int32", ("n",))}
    return AsOnnx(lambda x, boxes, counts: pool(x, boxes, counts, size, scale), shapes, folder)


@pytest.mark.parametrize(("size", "scale"), [(1, 1.0), ((2, 3), 0.3), ((7, 7), 0.0625), ((5, 4), 0.5)], ids=str)
@pytest.mark.parametrize("pool", [ops.roi_pool, ops.psroi_pool])
def test_pools_of_regions(pool: Callable[..., Any], size: Any, scale: float, tmp_path: Path) -> None:
    bins = int(np.prod(np.broadcast_to(size, 2)))
    channels = 2 * bins if pool is ops.psroi_pool else 3
    both = of_regions(pool, size, scale, ("n", channels, "h", "w"), tmp_path)
    for seed, (counts, sides) in enumerate((([40, 60], (13, 11)), ([0, 9, 4], (5, 17)), ([0], (1, 1)))):
        both.must_equal_eager(regions((len(counts), channels, *sides), counts, scale, seed))


def test_boxes_of_several_images_are_aligned(tmp_path: Path) -> None:
    body: Callable[..., Any] = lambda *given: ops.roi_align(*given, (2, 3), 0.5, sampling_ratio=2)  # noqa: E731
    shapes: Any = {"x": ("float32", ("n", 3, "h", "w")), "boxes": ("float32", ("k", 4)), "counts": ("int32", ("n",))}
    both = AsOnnx(body, shapes, tmp_path)
    for counts in ([2, 0, 5], [4]):
        both.must_equal_eager(regions((len(counts), 3, 9, 8), counts, 0.5))


def test_sizes_that_are_known(tmp_path: Path) -> None:
    both = of_regions(ops.psroi_pool, 2, 1.0, (1, 8, 6, 6), tmp_path)
    both.must_equal_eager(regions((1, 8, 6, 6), [7], 1.0))


def test_a_bin_of_zeros_among_numbers_is_zero_but_for_float64(tmp_path: Path) -> None:
    """In float32 the running sums would leave 1e-5 of what stands outside the bin."""
    both = of_regions(ops.psroi_pool, 1, 1.0, ("n", 2, "h", "w"), tmp_path)
    feed = dict(regions((1, 2, 40, 40), [1], 1.0))
    feed["boxes"] = np.array([[20, 20, 30, 30]], "float32")
    feed["x"] = np.maximum(feed["x"], 0)
    feed["x"][:, :, 20:31, 20:31] = 0
    (got,) = both.session.run(None, dict(zip("xyz", feed.values(), strict=True)))
    assert np.abs(got).max() < 1e-12


@pytest.mark.parametrize("pool", [ops.roi_pool, ops.psroi_pool])
def test_float64_is_refused(pool: Callable[..., Any], tmp_path: Path) -> None:
    shapes: Any = {"x": ("float64", (1, 8, 6, 6)), "boxes": ("float64", (2, 4)), "counts": ("int32", (1,))}
    with pytest.raises(ModelError, match="for float32, not for float64"):
        AsOnnx(lambda x, boxes, counts: pool(x, boxes, counts, 2), shapes, tmp_path)
