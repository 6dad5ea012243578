"""Where the labels of an array's indices go when the array is laid out anew: reshape, and what is one in disguise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.tracker import Axes, Tracker


def reshaped(
    axes: Axes, before: Sequence[int], after: Sequence[int], tracker: Tracker, literal: frozenset[int]
) -> Axes:
    """The labels behind a reshape. Axes are matched in blocks of equal size, as the layout in memory has them.

    Where one axis becomes several, one of those bears the labels, and indices that fall together on it are tied.
    `literal` are the axes of the result whose size the code names.
    """
    result: list[Array | None] = [None] * len(after)
    for sources, targets in _blocks(before, after):
        carried = [axis for axis in sources if axes[axis] is not None]
        if len(carried) != 1 or not targets:
            for axis in carried:
                tracker.pin(axes[axis])
            continue
        shape = [before[axis] if axis == carried[0] else 1 for axis in sources]
        labels = np.asarray(axes[carried[0]]).reshape(shape)
        grid = np.broadcast_to(labels, [before[axis] for axis in sources]).reshape([after[axis] for axis in targets])
        at = _bearer(grid)
        lead = np.moveaxis(grid, at, 0).reshape(grid.shape[at], -1)
        if lead.shape[1] > 1:
            tracker.tie(lead[:, :1], lead[:, 1:])
        result[targets[at]] = lead[:, 0]
        if literal & set(targets):
            tracker.literal.append(lead[:, 0])
    return tuple(result)


def _blocks(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the smallest runs of axes, of both shapes, that hold the same number of elements; axes of size 1 aside."""
    left = [axis for axis, size in enumerate(before) if size != 1]
    right = [axis for axis, size in enumerate(after) if size != 1]
    while left or right:
        sources, targets = left[:1], right[:1]
        left, right = left[1:], right[1:]
        while (sizes := _count(before, sources)) != (other := _count(after, targets)):
            if sizes < other and left:
                sources.append(left.pop(0))
            elif right:
                targets.append(right.pop(0))
            else:
                break
        yield sources, targets


def _count(shape: Sequence[int], axes: Sequence[int]) -> int:
    return math.prod(shape[axis] for axis in axes)


def _bearer(grid: Array) -> int:
    """The axis along which alone labels differ; where there is none, the longest, which leaves most to choose from."""
    for axis in range(grid.ndim):
        lead = np.moveaxis(grid, axis, 0).reshape(grid.shape[axis], -1)
        if (lead == lead[:, :1]).all():
            return axis
    return int(np.argmax(grid.shape))
