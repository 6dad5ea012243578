"""Integers that were chosen by a score: a different choice is right where the scores lie nearer than rounding can tell.

A label is the argmax of scores. Two engines may both be right and choose differently where two scores are equal but
for rounding; anything else that differs is wrong. It takes the scores among the outputs: without them integers are
compared exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from exporter.compare.golden import GoldenOutput
from exporter.tensors import Array, TensorMap


def find_scores(cases: Sequence[TensorMap]) -> dict[str, tuple[str, int]]:
    """For each integer output, the float output and axis whose argmax it is in every case; others are left out."""
    found: dict[str, tuple[str, int]] = {}
    first = cases[0]
    integers = [name for name, value in first.items() if value.dtype.kind in "iu"]
    floats = [name for name, value in first.items() if value.dtype.kind == "f" and value.ndim]
    for name in integers:
        for score in floats:
            for axis in range(first[score].ndim):
                if all(_is_argmax(case[name], case[score], axis) for case in cases):
                    found.setdefault(name, (score, axis))
    return found


def unexplained(expected: GoldenOutput, got: Array, scores: Mapping[str, GoldenOutput], budget: float) -> int:
    """How many elements differ by more than a near tie of their scores explains."""
    differ = got != expected.eager
    if expected.scores is None or not differ.any():
        return int(differ.sum())
    name, axis = expected.scores
    score = scores[name]
    if score.index is not None or score.gate:  # only a sample was kept, or it proves nothing
        return int(differ.sum())
    size = score.truth.shape[axis]
    inside = (got >= 0) & (got < size)
    chosen = np.where(inside, got, 0)
    gap = _at(score.truth, expected.eager, axis) - _at(score.truth, chosen, axis)
    tolerance = budget * score.unit[0] * score.scale[0]
    return int((differ & ~(inside & (gap <= 2 * tolerance))).sum())


def _at(scores: Array, index: Array, axis: int) -> Array:
    kept = np.expand_dims(index, axis) if index.ndim < scores.ndim else index
    return np.take_along_axis(scores, kept.astype("int64"), axis).reshape(index.shape)


def _is_argmax(labels: Array, scores: Array, axis: int) -> bool:
    reduced = (*scores.shape[:axis], *scores.shape[axis + 1 :])
    kept = (*scores.shape[:axis], 1, *scores.shape[axis + 1 :])
    if scores.shape[axis] < 2 or labels.shape not in (reduced, kept) or not np.isfinite(scores).all():
        return False
    return bool(np.array_equal(labels.reshape(reduced), scores.argmax(axis)))
