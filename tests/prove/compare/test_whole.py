"""Whole answers, mistreated at random: missing, extra, empty, reordered, misshaped, hiding NaN or infinity."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.tensors import Array
from exporter.prove.compare.outputs import compare_case
from exporter.prove.verdict.claim import Outcome
from tests.prove.compare.goldens import cases_of, golden

BUDGET = 4.0
NAMES = ("scores", "boxes", "labels")
_DRAWN = np.random.default_rng(5)
OTHERS: dict[str, list[GoldenOutput]] = {
    "scores": cases_of([(4, 6), (2, 6), (5, 6)]),
    "boxes": cases_of([(4, 3, 4), (2, 3, 4), (5, 3, 4)], seed=1, scale=1e4),
    "labels": [golden(_DRAWN.permutation(24).reshape(4, 6), seed=at) for at in range(3)],
}
CASE = GoldenCase("batch=4", {"batch": 4}, {name: OTHERS[name][0] for name in NAMES}, "batch=4")
RIGHT: dict[str, Array] = {name: one.eager for name, one in CASE.outputs.items()}
ANY = st.sampled_from(NAMES)


def outcomes(got: dict[str, Array]) -> dict[str, Outcome]:
    judged = compare_case(CASE, got, BUDGET, OTHERS)
    assert set(judged) == set(NAMES), "every planned output gets evidence, and nothing else does"
    assert all(one.reason for one in judged.values() if one.outcome is not Outcome.MATCH)
    return {name: one.outcome for name, one in judged.items()}


def test_the_right_answer_matches_in_any_order_of_its_names() -> None:
    for names in (NAMES, NAMES[::-1]):
        assert set(outcomes({name: RIGHT[name] for name in names}).values()) == {Outcome.MATCH}


@given(st.sets(ANY, max_size=2))
def test_what_is_missing_is_missing(kept: set[str]) -> None:
    found = outcomes({name: RIGHT[name] for name in kept})
    assert {name for name, one in found.items() if one is Outcome.MISSING} == set(NAMES) - kept


@given(st.text(max_size=8), ANY)
def test_one_more_output_fails_all(name: str, like: str) -> None:
    assume(name not in NAMES)
    assert set(outcomes({**RIGHT, name: RIGHT[like]}).values()) == {Outcome.MISMATCH}


@given(ANY, st.permutations(NAMES))
def test_answers_under_each_other_s_names_never_match(name: str, names: list[str]) -> None:
    found = outcomes({one: RIGHT[other] for one, other in zip(NAMES, names, strict=True)})
    wrong = {one for one, other in zip(NAMES, names, strict=True) if one != other}
    assert {one for one, outcome in found.items() if outcome is not Outcome.MATCH} == wrong
    assert name in wrong or found[name] is Outcome.MATCH


@given(ANY, st.integers(0, 1), st.data())
def test_another_order_never_matches(name: str, axis: int, data: st.DataObject) -> None:
    value = RIGHT[name]
    order = data.draw(st.permutations(range(value.shape[axis])))
    assume(order != sorted(order))
    assert outcomes({**RIGHT, name: np.take(value, order, axis)})[name] is Outcome.MISMATCH


@given(ANY, st.data())
def test_another_shape_never_matches(name: str, data: st.DataObject) -> None:
    """The same numbers in another shape, fewer of them, more of them, or none."""
    value = RIGHT[name]
    wrong = data.draw(
        st.sampled_from(
            (
                value.ravel(),
                value[None],
                value[..., None],
                value.reshape(value.shape[::-1]),
                value[:-1],
                value[:1],
                value[:0],
                np.concatenate([value, value[-1:]]),
                np.empty((), value.dtype),
            )
        )
    )
    assume(wrong.shape != value.shape)
    assert outcomes({**RIGHT, name: wrong})[name] is Outcome.MISMATCH


@given(st.sampled_from(("scores", "boxes")), st.integers(0, 23), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_one_number_that_is_none_never_matches(name: str, place: int, value: float) -> None:
    got = RIGHT[name].copy()
    got.flat[place] = value
    found = outcomes({**RIGHT, name: got})
    assert found[name] is Outcome.MISMATCH
    assert {outcome for other, outcome in found.items() if other != name} == {Outcome.MATCH}


@given(ANY, st.sampled_from(["float16", "float64", "int32", "uint8", "bool"]))
def test_another_dtype_never_matches(name: str, dtype: str) -> None:
    assert outcomes({**RIGHT, name: RIGHT[name].astype(dtype)})[name] is Outcome.MISMATCH
