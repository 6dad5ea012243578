"""Which pixels OpenCV's resize reads, and the whole numbers that it multiplies them by.

It resizes uint8 pictures in fixed point, so equal tables give equal bytes on any engine. Source: `resize.cpp` of OpenCV
4.10 (`resizeNN`, `HResizeLinear`, `VResizeLinear`), whose bytes 5.0 gives as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exporter.tensors import Array

#: Bits of a weight (INTER_RESIZE_COEF_BITS).
BITS = 11


@dataclass(frozen=True)
class Taps:
    """For each of `size` places along an axis, two pixels: `index` int32 [size, 2], `weight` int32 [size, 2]."""

    index: Array
    weight: Array


def nearest(source: int, size: int) -> Array:
    """The place that each of `size` pixels is copied from: int32 [size]."""
    step = 1.0 / (size / source)
    places: Array = np.minimum(np.floor(np.arange(size) * step), source - 1).astype(np.int32)
    return places


def linear(source: int, size: int, *, rows: bool) -> Taps:
    """The taps of a bilinear resize; at the border a column's weight moves with its place, but not that of `rows`."""
    middle = ((np.arange(size) + 0.5) * (1.0 / (size / source)) - 0.5).astype(np.float32)
    first = np.floor(middle).astype(np.int32)
    share = middle - first.astype(np.float32)
    if not rows:
        share[(first < 0) | (first >= source - 1)] = 0
        first = first.clip(0, source - 1)
    weight = np.rint(np.stack([np.float32(1) - share, share], 1) * np.float32(1 << BITS))
    return Taps(np.stack([first, first + 1], 1).clip(0, source - 1).astype(np.int32), weight.astype(np.int32))
