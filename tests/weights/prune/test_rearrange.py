"""A reshape moves labels to where the elements go: each element bears, or is tied to, the label it had."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exporter.weights.prune.program import Program
from exporter.weights.prune.rearrange import reshaped
from exporter.weights.prune.tracker import Tracker


@st.composite
def shapes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two shapes of as many elements."""
    factors = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), min_size=1, max_size=5))
    order = draw(st.permutations(factors))
    return fold(factors, draw), fold(order, draw)


def fold(factors: list[int], draw: st.DrawFn) -> list[int]:
    """Multiply some neighbours together."""
    sizes = [factors[0]]
    for one in factors[1:]:
        if draw(st.booleans()):
            sizes.append(one)
        else:
            sizes[-1] *= one
    return sizes


@given(shapes(), st.data())
def test_every_element_keeps_its_label(pair: tuple[list[int], list[int]], data: st.DataObject) -> None:
    before, after = pair
    axis = data.draw(st.integers(0, len(before) - 1))
    tracker = Tracker(Program(), used=before[axis] + 1)
    own = np.arange(1, before[axis] + 1)
    axes = tuple(own if at == axis and before[axis] > 1 else None for at in range(len(before)))
    result = reshaped(axes, before, after, tracker, frozenset())
    root = tracker.classes()
    spread = [1] * len(before)
    spread[axis] = before[axis]
    had = np.broadcast_to(own.reshape(spread), before).reshape(after)
    borne = [at for at, labels in enumerate(result) if labels is not None]
    assert len(borne) <= 1
    if borne:
        shape = [1] * len(after)
        shape[borne[0]] = after[borne[0]]
        bears = np.broadcast_to(np.asarray(result[borne[0]]).reshape(shape), after)
        assert (root[bears] == root[had]).all()
    elif before[axis] > 1:
        assert (root[own] == 0).all()
    assert math.prod(before) == math.prod(after)


def test_flattening_places_behind_channels_repeats_each() -> None:
    tracker = Tracker(Program(), used=4)
    (_, labels) = reshaped((None, np.array([1, 2, 3]), None), (5, 3, 4), (5, 12), tracker, frozenset())
    assert labels is not None and labels.tolist() == [1] * 4 + [2] * 4 + [3] * 4
    assert not tracker.ties


def test_a_size_that_the_code_names_is_remembered() -> None:
    tracker = Tracker(Program(), used=4)
    reshaped((None, np.array([1, 2, 3])), (5, 3), (5, 3, 1), tracker, frozenset({1}))
    assert [labels.tolist() for labels in tracker.literal] == [[1, 2, 3]]
