"""Whole blocks stay; as many FLOPs go as were asked for, and no block more; what matters least goes first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import ModelError
from exporter.weights.prune.choose import choose, ladder
from exporter.weights.prune.cost import Cost
from exporter.weights.prune.groups import Group
from exporter.weights.prune.program import Program
from exporter.weights.prune.tracker import Term, Tracker


def group(first: int, count: int, repeat: int = 1, makers: int = 1) -> Group:
    return Group(np.arange(first, first + count), ((first, 0),), repeat, makers, literal=False)


@given(st.integers(1, 600), st.integers(1, 64), st.sampled_from([1, 4, 8, 16]))
def test_what_may_be_kept_is_all_or_whole_blocks(count: int, repeat: int, block: int) -> None:
    steps = ladder(group(1, count, repeat), block)
    assert steps[0] == count and steps == sorted(set(steps), reverse=True)
    assert all(one * repeat % block == 0 and one * 8 >= count for one in steps[1:])


def chain(widths: list[int]) -> tuple[list[Group], Cost]:
    """Matrices one behind the other: each pair of neighbouring widths multiplied."""
    groups, terms, first = [], [], 1
    for width in widths:
        groups.append(group(first, width))
        first += width
    for one, other in pairwise(groups):
        terms.append(Term(2.0, (one.roots, other.roots)))
    tracker = Tracker(Program(), terms=terms, used=first)
    return groups, Cost(tracker, groups, np.arange(first))


@given(st.lists(st.integers(2, 20).map(lambda n: 16 * n), min_size=2, max_size=6), st.floats(0.3, 0.95), st.data())
def test_the_target_is_met_and_nothing_more_could_stay(widths: list[int], share: float, data: st.DataObject) -> None:
    groups, cost = chain(widths)
    seed = data.draw(st.integers(0, 99))
    scores = [np.random.default_rng(seed).random(width) + 0.1 for width in widths]
    kept = choose(groups, scores, cost, share, 16)
    whole = float(cost.flops(np.array(widths))[0])
    assert cost.flops(np.array(kept))[0] <= share * whole
    for at, (one, width) in enumerate(zip(kept, widths, strict=True)):
        if one < width:
            more = [min(one + 16, width) if at == other else count for other, count in enumerate(kept)]
            assert cost.flops(np.array(more))[0] > share * whole


def test_the_group_that_matters_least_is_cut() -> None:
    groups, cost = chain([64, 64, 64])
    telling, idle = np.ones(64), np.concatenate([np.ones(16), np.full(48, 1e-6)])
    kept = choose(groups, [telling, idle, telling], cost, 0.6, 16)
    assert kept[1] < 64 and kept[0] == kept[2] == 64


def test_more_than_can_go_is_refused() -> None:
    groups, cost = chain([24, 24])
    with pytest.raises(ModelError, match="44% of the FLOPs stay") as caught:
        choose(groups, [np.ones(24)] * 2, cost, 0.1, 16)
    assert "--flops 0.45" in caught.value.hint
