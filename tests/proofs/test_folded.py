"""The proof that the steps in the graph are the steps: what it lets pass and what it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.proofs.folded import ANSWER, READY, judge_both, plugin
from exporter.tensors import Array
from exporter.verdict.claim import Outcome


def both(steps: Array, graph: Array | None, what: str = READY) -> dict[str, Array]:
    made = {f"batch=2/{what}/steps/value": steps}
    return made if graph is None else {**made, f"batch=2/{what}/graph/value": graph}


REAL = np.random.RandomState(0).rand(3, 4).astype("float32")
WHOLE = np.array([3, 1, 2])


def test_equal_bits_match() -> None:
    for value, what in ((REAL, READY), (WHOLE, ANSWER)):
        evidence = judge_both(both(value, value.copy(), what), what)
        assert (evidence.outcome, evidence.elements, evidence.bit_equal) == (Outcome.MATCH, value.size, True)


def test_rounding_matches_and_says_so() -> None:
    evidence = judge_both(both(REAL, np.nextafter(REAL, np.float32(2))), READY)
    assert evidence.outcome is Outcome.MATCH and not evidence.bit_equal
    assert 0 < evidence.metrics["max_rel"] < 1e-6


@pytest.mark.parametrize(
    ("steps", "graph", "said"),
    [
        (REAL, REAL * np.float32(1 + 1e-5), "of the largest value apart"),
        (REAL, np.where(REAL.max() == REAL, np.nan, REAL).astype("float32"), "of the largest value apart"),
        (WHOLE, WHOLE + (WHOLE == 2), "1 of 3 whole numbers differ"),
        (WHOLE, WHOLE.astype("int32"), "the graph gives int32[3], the steps int64[3]"),
        (REAL, REAL[:2], "the graph gives float32[2, 4]"),
        (REAL, None, "the graph does not give it"),
    ],
)
def test_what_differs_is_a_mismatch(steps: Array, graph: Array | None, said: str) -> None:
    evidence = judge_both(both(steps, graph), READY)
    assert evidence.outcome is Outcome.MISMATCH
    assert said in evidence.reason


def test_samples_that_are_all_alike_show_nothing() -> None:
    value = np.repeat(REAL[:1], 3, axis=0)
    assert judge_both(both(value, value), READY).outcome is Outcome.VACUOUS
    same = np.array([7, 7, 7])
    evidence = judge_both(both(same, same, ANSWER), ANSWER)
    assert evidence.outcome is Outcome.VACUOUS
    assert "the answer of every sample is the same" in evidence.reason


def test_nothing_that_came_back_is_missing() -> None:
    assert judge_both({}, READY).outcome is Outcome.MISSING


def test_where_nothing_was_claimed_nothing_runs() -> None:
    """Without claims not even the harness is looked at."""
    harness: Any = None
    assert plugin.prove([], harness) == {}
