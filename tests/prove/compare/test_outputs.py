"""Whatever an engine could put out: what equals eager matches, and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import FLOOR
from exporter.base.numbers.partial import Partial
from exporter.base.numbers.units import in_human_units
from exporter.base.tensors import Array
from exporter.prove.compare.outputs import compare_case
from exporter.prove.verdict.claim import Evidence, Outcome
from tests.prove.compare.goldens import cases_of, compare, golden

BUDGET = 4.0
SHAPES = [(4, 6), (1, 6), (5, 6)]
CASES = cases_of(SHAPES)
FIRST = CASES[0]


def judge(got: Array, cases: Sequence[GoldenOutput] = CASES, budget: float = BUDGET) -> Evidence:
    return compare(cases[0], got, budget, list(cases), {cases[0].name: cases[0]})


def places(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, size - 1) for size in shape))


@given(
    st.sampled_from([(4, 6), (7,), (2, 3, 4), (1, 9)]), st.integers(0, 10**6), st.sampled_from([1e-20, 1e-3, 1.0, 1e9])
)
def test_eager_s_own_answer_matches(shape: tuple[int, ...], seed: int, scale: float) -> None:
    cases = cases_of([shape, shape], seed, scale)
    found = judge(cases[0].eager, cases)
    assert found.outcome is Outcome.MATCH and found.bit_equal and found.elements == cases[0].eager.size


@given(places((4, 6)), st.floats(0.5, 100), st.booleans())
def test_one_element_may_err_within_the_budget_and_not_beyond(place: tuple[int, ...], times: float, up: bool) -> None:
    """The other elements are exact, so that the largest error is this one's and L2 cannot be worse."""
    assume(abs(times - 1) > 0.01)
    allowed = BUDGET * max(FIRST.e_ref[0], FLOOR) * FIRST.scale[0]
    cases = [replace(FIRST, eager=FIRST.truth, dtype="float64"), *CASES[1:]]
    candidate = FIRST.truth.copy()
    candidate[place] += allowed * times * (1 if up else -1)
    found = judge(candidate, cases)
    assert found.outcome is (Outcome.MATCH if times < 1 else Outcome.MISMATCH)
    assert (found.metrics["error_ratio"] <= BUDGET) == (times < 1)


@given(places((4, 6)), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_one_number_that_is_none_fails_wherever_it_hides(place: tuple[int, ...], value: float) -> None:
    got = FIRST.eager.copy()
    got[place] = value
    assert judge(got).outcome is Outcome.MISMATCH


@given(st.integers(0, 199_999), st.sampled_from([np.nan, np.inf]))
@example(3, np.nan)
def test_it_also_fails_outside_the_sample_that_was_kept(place: int, value: float) -> None:
    got = LARGE_EAGER.copy()
    got.ravel()[place] = value
    assert judge(got, LARGE).outcome is Outcome.MISMATCH


_truth = np.random.default_rng(5).standard_normal((2, 100_000))
_index = np.sort(np.random.default_rng(6).choice(_truth.size, 1000, replace=False))
LARGE_EAGER = _truth.astype("float32")
LARGE = [golden(_truth, index=_index), golden(_truth[::-1] * 2, seed=1, index=_index)]


def test_what_only_a_sample_is_kept_of_is_judged_by_the_sample_and_the_norms() -> None:
    assert judge(LARGE_EAGER, LARGE).outcome is Outcome.MATCH
    outside = np.setdiff1d(np.arange(_truth.size), _index)
    grown = LARGE_EAGER.copy()
    grown.ravel()[outside] *= np.float32(1.001)
    assert judge(grown, LARGE).outcome is Outcome.MISMATCH
    inside = LARGE_EAGER.copy()
    inside.ravel()[_index[0]] += 1
    assert judge(inside, LARGE).outcome is Outcome.MISMATCH


NEAR = st.tuples(st.integers(0, 10**6), st.sampled_from([1e-9, 1e-8, 3e-8, 1e-7, 2e-7, 3e-7, 1e-6])).map(
    lambda drawn: FIRST.eager + (np.random.default_rng(drawn[0]).standard_normal((4, 6)) * drawn[1]).astype("float32")
)


@given(arrays.arrays("float32", (4, 6), elements=st.floats(width=32)) | NEAR)
def test_the_rule_said_a_second_time(got: Array) -> None:
    """Finite, and near the truth in the largest error and in the root mean square: nothing else is a match."""
    with np.errstate(all="ignore"):
        wrong, truth = got.astype("float64") - FIRST.truth, FIRST.truth
        largest = np.abs(wrong).max() <= BUDGET * max(FIRST.e_ref[0], FLOOR) * np.abs(truth).max()
        square = np.sum(wrong**2) <= (BUDGET * max(FIRST.e_ref[1], FLOOR)) ** 2 * np.sum(truth**2)
    assert judge(got).outcome is (Outcome.MATCH if largest and square else Outcome.MISMATCH)


IMPOSTORS = {
    "zeros": np.zeros_like(FIRST.eager),
    "the mean": np.full_like(FIRST.eager, FIRST.eager.mean()),
    "reversed rows": FIRST.eager[::-1],
    "reversed columns": FIRST.eager[:, ::-1],
    "the sign": -FIRST.eager,
    "another case": np.resize(CASES[2].eager, FIRST.shape),
    "one percent": FIRST.eager * np.float32(1.01),
    "one row for all": np.repeat(FIRST.eager[:1], 4, axis=0),
    "float16": FIRST.eager.astype("float16").astype("float32"),
    "tiny": FIRST.eager * np.float32(1e-30),
}


@pytest.mark.parametrize("name", IMPOSTORS)
def test_impostors_fail(name: str) -> None:
    assert judge(IMPOSTORS[name]).outcome is Outcome.MISMATCH


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "bool", "uint8", "complex64"])
def test_another_dtype_fails_though_the_numbers_are_the_same(dtype: str) -> None:
    ones = [golden(np.eye(4)), golden(np.eye(4)[::-1], seed=1)]
    found = judge(ones[0].eager.astype(dtype), ones)
    assert found.outcome is Outcome.MISMATCH and "dtype" in found.reason


@pytest.mark.parametrize("shape", [(24,), (6, 4), (1, 4, 6), (4, 6, 1), (2, 2, 6), (4, 7), (3, 6)])
def test_another_shape_fails_though_it_would_broadcast(shape: tuple[int, ...]) -> None:
    found = judge(np.resize(FIRST.eager, shape))
    assert found.outcome is Outcome.MISMATCH and "shape" in found.reason


def test_a_row_that_would_broadcast_is_no_batch() -> None:
    same = [golden(np.ones((4, 1)) * np.arange(6)), golden(np.zeros((4, 6)) + 3, seed=1)]
    assert judge(same[0].eager[:1], same).outcome is Outcome.MISMATCH


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(0,), (0, 6), (4, 0)])
def test_no_elements_are_no_match(dtype: str, shape: tuple[int, ...]) -> None:
    empty = np.zeros(shape, dtype)
    cases = [golden(empty, eager=empty), golden(empty, eager=empty, seed=1)]
    assert judge(empty, cases).outcome is Outcome.VACUOUS


@given(
    st.integers(-60, 60),
    st.integers(0, 1000),
    st.sampled_from([0.0, 1e-8, 1e-7, 3e-7, 1e-6, 1e-3, 1.0]),
    st.sampled_from([1e-7, 1e-3, 1e3]),
)
def test_the_size_of_the_numbers_changes_no_verdict(power: int, seed: int, wrong: float, spread: float) -> None:
    """A power of two moves no mantissa, so every error, and so the outcome, must stay what it was."""
    generator = np.random.default_rng(seed)
    truths = [1.0 + spread * generator.standard_normal((4, 6)) for _ in range(2)]
    noise = wrong * generator.standard_normal((4, 6))

    def outcome(factor: float) -> tuple[Outcome, float]:
        cases = [golden(truth * factor, seed=at) for at, truth in enumerate(truths)]
        candidate = (truths[0].astype("float32") * np.float32(factor)) + (noise * factor).astype("float32")
        found = judge(candidate, cases)
        return found.outcome, found.metrics["error_ratio"]

    assert outcome(1.0) == outcome(2.0**power)


@given(st.floats(1e-12, 1e-2), st.integers(0, 1000))
def test_what_the_controls_cannot_tell_from_the_truth_is_never_a_match(spread: float, seed: int) -> None:
    """A large constant and a small signal: the mean is nearly right. The less signal, the less a match may be."""
    generator = np.random.default_rng(seed)
    cases = [golden(1.0 + spread * generator.standard_normal((4, 6)), seed=at) for at in range(2)]
    found = judge(cases[0].eager, cases)
    if spread < BUDGET * FLOOR / 4:
        assert found.outcome is Outcome.VACUOUS and "would have passed" in found.reason
    if spread > 100 * BUDGET * FLOOR:
        assert found.outcome is Outcome.MATCH


def test_an_output_that_no_input_changes_is_vacuous() -> None:
    same = np.random.default_rng(0).standard_normal((4, 6))
    cases = [golden(same, seed=at) for at in range(3)]
    found = judge(cases[0].eager, cases)
    assert found.outcome is Outcome.VACUOUS and "every case has the same output" in found.reason


def test_cases_made_from_one_another_are_no_strangers() -> None:
    """Reversed rows of the same draw differ from it and prove nothing about another input."""
    base = np.random.default_rng(0).standard_normal((4, 6))
    related = [golden(base, seed=0), golden(base[::-1], seed=0), golden(base, seed=1)]
    assert judge(related[0].eager, related).outcome is Outcome.VACUOUS


@pytest.mark.parametrize("reason", ["eager is not finite", "rounding alone moves it"])
def test_a_shut_gate_comes_before_bit_equality(reason: str) -> None:
    cases = [golden(FIRST.truth, gate=reason), *CASES[1:]]
    found = judge(FIRST.eager, cases)
    assert found.outcome is Outcome.INCONCLUSIVE and found.reason == reason


INTEGERS = [golden(np.random.default_rng(at).integers(0, 10, (4, 6)), seed=at) for at in range(3)]
FLAGS = [golden(np.random.default_rng(at).integers(0, 2, (4, 6)).astype(bool), seed=at) for at in range(3)]


@given(places((4, 6)), st.integers(-(2**62), 2**62))
def test_one_wrong_integer_fails(place: tuple[int, ...], value: int) -> None:
    got = INTEGERS[0].eager.copy()
    assume(got[place] != value)
    got[place] = value
    assert judge(got, INTEGERS).outcome is Outcome.MISMATCH
    assert judge(INTEGERS[0].eager, INTEGERS).outcome is Outcome.MATCH


@given(places((4, 6)))
def test_one_wrong_flag_fails(place: tuple[int, ...]) -> None:
    got = FLAGS[0].eager.copy()
    got[place] ^= True
    assert judge(got, FLAGS).outcome is Outcome.MISMATCH
    assert judge(FLAGS[0].eager, FLAGS).outcome is Outcome.MATCH


@pytest.mark.parametrize("dtype", ["int64", "int8", "bool"])
def test_integers_that_are_always_zero_or_always_the_same_are_vacuous(dtype: str) -> None:
    for value in (np.zeros((4, 6), dtype), np.ones((4, 6), dtype)):
        cases = [golden(value, seed=at) for at in range(3)]
        assert judge(value, cases).outcome is Outcome.VACUOUS


class TestChoicesByScore:
    """Labels that are the argmax of scores among the outputs."""

    def cases(self, gap: float) -> tuple[list[GoldenOutput], GoldenOutput]:
        scores = np.random.default_rng(0).standard_normal((4, 6))
        scores[1, 2], scores[1, 4] = 5.0, 5.0 - gap
        labels = [golden(np.random.default_rng(at).integers(0, 6, 4), seed=at, scores=("s", 1)) for at in (1, 2)]
        return [golden(scores.argmax(1), scores=("s", 1)), *labels], golden(scores, name="s")

    def outcome(self, gap: float, label: int, row: int = 1) -> Outcome:
        cases, scores = self.cases(gap)
        got = cases[0].eager.copy()
        got[row] = label
        return compare(cases[0], got, BUDGET, cases, {"y": cases[0], "s": scores}).outcome

    def test_the_other_of_two_nearly_equal_scores_is_right(self) -> None:
        assert self.outcome(gap=1e-7, label=4) is Outcome.MATCH

    def test_the_other_of_two_different_scores_is_wrong(self) -> None:
        assert self.outcome(gap=1e-3, label=4) is Outcome.MISMATCH

    @pytest.mark.parametrize("label", [0, 1, 3, 5, -1, -2, 6, 99, -(2**63), 2**63 - 1])
    def test_any_third_choice_is_wrong(self, label: int) -> None:
        assert self.outcome(gap=1e-7, label=label) is Outcome.MISMATCH

    def test_a_near_tie_excuses_its_own_row_only(self) -> None:
        assert self.outcome(gap=1e-7, label=4, row=0) is Outcome.MISMATCH

    @pytest.mark.parametrize("change", [{"gate": "shut"}, {"index": np.arange(24)}])
    def test_scores_that_prove_nothing_excuse_nothing(self, change: dict[str, object]) -> None:
        cases, scores = self.cases(1e-7)
        got = cases[0].eager.copy()
        got[1] = 4
        unsure = replace(scores, **change)  # type: ignore[arg-type]
        assert compare(cases[0], got, BUDGET, cases, {"s": unsure}).outcome is Outcome.MISMATCH


B = [golden(np.random.default_rng(9 - at).standard_normal((4, 2)), seed=at, name="b") for at in range(2)]


class TestWholeCases:
    """Count and names come before values."""

    def outcomes(self, got: dict[str, Array]) -> dict[str, Outcome]:
        case = GoldenCase("batch=4", {"batch": 4}, {"a": CASES[0], "b": B[0]}, "batch=4")
        judged = compare_case(case, got, BUDGET, {"a": CASES, "b": B})
        assert set(judged) == {"a", "b"}, "every planned output gets evidence, and nothing else does"
        return {name: evidence.outcome for name, evidence in judged.items()}

    @property
    def right(self) -> dict[str, Array]:
        return {"a": CASES[0].eager, "b": B[0].eager}

    def test_all_is_there(self) -> None:
        assert self.outcomes(self.right) == {"a": Outcome.MATCH, "b": Outcome.MATCH}

    def test_one_is_missing(self) -> None:
        assert self.outcomes({"a": self.right["a"]}) == {"a": Outcome.MATCH, "b": Outcome.MISSING}

    def test_nothing_came(self) -> None:
        assert set(self.outcomes({}).values()) == {Outcome.MISSING}

    def test_one_more_came(self) -> None:
        assert set(self.outcomes({**self.right, "c": self.right["a"]}).values()) == {Outcome.MISMATCH}

    def test_the_same_values_under_another_name_are_missing(self) -> None:
        assert self.outcomes({"a": self.right["a"], "B": self.right["b"]})["b"] is Outcome.MISSING

    def test_two_outputs_exchanged(self) -> None:
        same = {"a": CASES[0], "b": replace(golden(CASES[0].truth * 3 + 1), name="b")}
        case = GoldenCase("c", {}, same, "c")
        others = {name: [one, *CASES[1:]] for name, one in same.items()}
        judged = compare_case(case, {"a": same["b"].eager, "b": same["a"].eager}, BUDGET, others)
        assert {evidence.outcome for evidence in judged.values()} == {Outcome.MISMATCH}


def test_what_was_compared_is_measured_and_eager_s_own_bits_once() -> None:
    cases = cases_of([(4, 6), (4, 6)], seed=11)
    own = judge(cases[0].eager, cases)
    measured = {"error_ratio", "cosine", "max_abs", "max_rel", "max_ulp"}
    assert set(own.metrics) == {*measured, "relative", "rows", "agree"} and own.bit_equal
    assert (own.metrics["max_abs"], own.metrics["max_ulp"]) == (0.0, 0.0)
    assert own.metrics["relative"] < 1e-6 and own.metrics["agree"] == own.metrics["rows"] == 4
    assert own.metrics is not judge(cases[0].eager, cases).metrics and "metrics" in cases[0].memo
    cases[0].memo["metrics"] = {"max_abs": 77.0}
    assert judge(cases[0].eager, cases).metrics["max_abs"] == 77.0, "not measured again"
    off = cases[0].eager.copy()
    off[0, 0] = np.nextafter(off[0, 0], np.float32(9))
    near = judge(off, cases)
    assert not near.bit_equal and near.metrics["max_ulp"] == 1.0 and near.metrics["error_ratio"] > 0
    assert cases[0].memo["metrics"] == {"max_abs": 77.0}, "another's numbers do not stand for eager's"


def test_it_is_told_how_far_scores_are_off_and_how_many_answers_flip() -> None:
    cases = cases_of([(4, 6), (4, 6)], seed=11)
    off = cases[0].eager.copy()
    off[1] = np.roll(off[1], 1)  # its highest value moves by one place
    off[2] *= 1.5  # scaled, so that its highest value stays
    found = judge(off, cases)
    gone = float(np.sqrt(np.mean((off - cases[0].truth) ** 2) / np.mean(cases[0].truth ** 2)))
    assert found.metrics["relative"] == pytest.approx(gone)
    assert (found.metrics["rows"], found.metrics["agree"]) == (4, 3)
    sampled = replace(cases[0], eager=cases[0].eager.ravel()[:7], truth=cases[0].truth.ravel()[:7], index=np.arange(7))
    assert "rows" not in in_human_units(sampled, off.ravel()[:7]), "of a sample there are no rows"
    assert in_human_units(golden(np.arange(4)), np.array([0, 1, 5, 3])) == {"rows": 4, "agree": 3}


def test_what_was_not_compared_is_not_measured() -> None:
    assert judge(FIRST.eager[:2]).metrics == {}
    evidence = compare_case(GoldenCase("a", {}, {"y": FIRST}, "a"), {}, BUDGET, {"y": CASES})["y"]
    assert (evidence.outcome, evidence.metrics) == (Outcome.MISSING, {})


class TestRowsWithoutAnAnswer:
    """The first row of eager is NaN: the others are judged, by their values, and the first by what is finite."""

    def cases(self, sampled: bool = False) -> list[GoldenOutput]:
        eager = FIRST.eager.copy()
        eager[0] = np.nan
        index, places = np.arange(24), np.arange(6, 24)
        partial = Partial(eager.ravel() if sampled else eager, index if sampled else None)
        kept = {"eager": FIRST.eager.ravel()[places], "truth": FIRST.truth.ravel()[places], "index": places}
        return [replace(FIRST, **kept, partial=partial), *CASES[1:]]

    @pytest.mark.parametrize("sampled", [False, True])
    def test_what_eager_gives_matches(self, sampled: bool) -> None:
        got = FIRST.eager.copy()
        got[0] = np.nan
        found = judge(got, self.cases(sampled))
        assert found.outcome is Outcome.MATCH and found.bit_equal and found.metrics["error_ratio"] <= 1
        got[0] = [np.inf, -np.inf, np.nan, np.nan, np.inf, np.nan]
        assert judge(got, self.cases(sampled)).outcome is Outcome.MATCH, "of NaN nobody knows how it came about"

    @pytest.mark.parametrize(("place", "value"), [((0, 3), 1.0), ((2, 3), np.nan), ((3, 5), np.inf)])
    def test_what_is_finite_has_to_be_so_in_both(self, place: tuple[int, int], value: float) -> None:
        got = FIRST.eager.copy()
        got[0] = np.nan
        got[place] = value
        found = judge(got, self.cases())
        assert found.outcome is Outcome.MISMATCH and f"row {place[0]}" in found.reason and found.elements == 24

    def test_the_other_rows_are_judged_by_their_values(self) -> None:
        got = FIRST.eager.copy()
        got[0] = np.nan
        got[2, 2] *= 1.5
        found = judge(got, self.cases())
        assert found.outcome is Outcome.MISMATCH and "error ratio" in found.reason

    def test_an_infinity_is_the_same_one(self) -> None:
        (case, *others) = self.cases()
        assert case.partial is not None
        eager = case.partial.eager.copy()
        eager[0, 0] = -np.inf
        cases = [replace(case, partial=Partial(eager, None)), *others]
        assert judge(eager, cases).outcome is Outcome.MATCH
        other = eager.copy()
        other[0, 0] = np.inf
        assert "another infinity" in judge(other, cases).reason

    def test_what_is_not_compared_has_no_part_in_the_size_of_the_whole(self) -> None:
        (case, *others) = self.cases()
        eager = FIRST.eager.copy()
        eager[0] = -1e9  # rounding alone
        cases = [replace(case, partial=Partial(eager, None)), *others]
        assert judge(eager, cases).outcome is Outcome.MATCH
