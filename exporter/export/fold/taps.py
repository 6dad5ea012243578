"""Which pixels OpenCV's resize reads, and the whole numbers that it multiplies them by, as a graph holds them.

It resizes uint8 pictures in fixed point, so equal tables give equal bytes on any engine. The tables are those of the
step itself (`exporter/steps/resample.py`, by `resize.cpp` of OpenCV 4.10, whose bytes 5.0 gives as well).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array
from exporter.steps.resample import nearest_places, neighbours, whole_weights


@dataclass(frozen=True)
class Taps:
    """For each of `size` places along an axis, two pixels: `index` int32 [size, 2], `weight` int32 [size, 2]."""

    index: Array
    weight: Array


def nearest(source: int, size: int) -> Array:
    """The place that each of `size` pixels is copied from: int32 [size]."""
    return nearest_places(source, size, "opencv").astype(np.int32)


def linear(source: int, size: int, *, rows: bool) -> Taps:
    """The taps of a bilinear resize along the axis of the rows or of the columns, which differ at the border."""
    index, weight = neighbours(source, size, "linear", 0 if rows else 1)
    return Taps(index.astype(np.int32), whole_weights(weight).astype(np.int32))
