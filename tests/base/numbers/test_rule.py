"""The rule at its edges: the numbers by which it decides, each with the value on either side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import FLOOR, decibel
from exporter.base.numbers.rule import (
    AGREEMENT,
    Judged,
    _answers,
    constants,
    impostors,
    judge_case,
    judge_output,
    judge_promise,
    judge_reduced,
    nearest,
    promised_of,
    unexplained,
    wilson,
)
from exporter.base.tensors import Array
from tests.prove.compare.goldens import golden

#: An output whose zeros and whose mean err by exactly its size, and another case's that errs by more.
EVEN = np.array([[1.0, -1.0], [1.0, -1.0]])


def of(value: Array, e_ref: float = 2.0**-20, seed: int = 0, **more: Any) -> GoldenOutput:
    return replace(golden(value, seed=seed), e_ref=(e_ref, e_ref), **more)


def judged(expected: GoldenOutput, got: Array, budget: float = 4.0, others: Sequence[GoldenOutput] = ()) -> Judged:
    return judge_output(expected, got, budget, [expected, *others], {"y": expected})


class TestImpostors:
    """By e_ref of 1/8 zeros have an error ratio of 8."""

    @pytest.mark.parametrize(
        ("budget", "outcome"),
        [(8.1, "vacuous"), (8.0, "vacuous"), (7.9, "inconclusive"), (0.8, "inconclusive"), (0.79, "match")],
    )
    def test_within_ten_budgets_nothing_is_proven(self, budget: float, outcome: str) -> None:
        found = judged(of(EVEN, 0.125), EVEN.astype("float32"), budget)
        assert found.outcome == outcome
        assert (
            found.reason
            == {
                "vacuous": "zeros would have passed: its error ratio is 8",
                "inconclusive": "zeros is nearly as good: its error ratio is 8",
                "match": "",
            }[outcome]
        )

    def rows(self, apart: float) -> Array:
        """Three rows of which the last is nearly the first: in reverse they err by so many units."""
        return np.array([[1.0, -3.0], [-1.0, 2.0], [1.0, -3.0 + 3 * apart * FLOOR]])

    @pytest.mark.parametrize(("apart", "outcome"), [(2.0, "vacuous"), (20.0, "inconclusive"), (2000.0, "match")])
    def test_rows_in_another_order_are_an_impostor_where_the_first_dim_counts_rows(
        self, apart: float, outcome: str
    ) -> None:
        truth = self.rows(apart)
        expected = of(truth, FLOOR)
        eager = expected.eager
        longer = of(np.array([[5.0, 6.0], [7.0, 1.0], [2.0, 2.0], [4.0, 9.0]]), FLOOR, seed=1)
        assert judged(expected, eager, 4.0, [longer]).outcome == outcome
        same_size = of(np.array([[5.0, 6.0], [7.0, 1.0], [2.0, 2.0]]), FLOOR, seed=1)
        assert judged(expected, eager, 4.0, [same_size]).outcome == "match", "no dimension varies"
        scalar = of(np.array(5.0), FLOOR, seed=1)
        assert judged(expected, eager, 4.0, [longer, scalar]).outcome == "match", "a case without any dimension"

    def test_a_sample_has_no_rows(self) -> None:
        longer = of(np.array([[5.0, 6.0], [7.0, 1.0], [2.0, 2.0], [4.0, 9.0]]), FLOOR, seed=1)
        whole = self.rows(2.0)
        sampled = replace(golden(whole, index=np.arange(6)), e_ref=(FLOOR, FLOOR))
        assert judged(sampled, whole.astype("float32"), 4.0, [longer]).outcome == "match"

    def test_a_sample_that_reads_the_same_backwards_is_no_batch(self) -> None:
        whole = np.array([[1.0], [-2.0], [1.0 + 4 * FLOOR]])
        longer = of(np.array([[5.0], [7.0], [2.0], [4.0]]), FLOOR, seed=1)
        assert judged(of(whole, FLOOR), whole.astype("float32"), 4.0, [longer]).outcome == "vacuous"
        sampled = replace(golden(whole, index=np.arange(3)), e_ref=(FLOOR, FLOOR))
        assert judged(sampled, whole.astype("float32"), 4.0, [longer]).outcome == "match"

    def test_only_rows_in_reverse_may_equal_the_truth(self) -> None:
        assert nearest(np.ones(2), None, False, (0.0, 0.0)) == ("the mean", 0.0)

    def test_every_impostor_has_its_name(self) -> None:
        truth, stranger = np.array([[1.0, 2.0], [3.0, 6.0]]), np.array([7.0])
        named = dict(impostors(truth, stranger, True))
        assert list(named) == ["zeros", "the mean", "the rows reversed", "another case's output"]
        assert (
            not named["zeros"].any() and (named["the mean"] == 3.0).all() and (named[next(reversed(named))] == 7).all()
        )
        assert np.array_equal(named["the rows reversed"], truth[::-1])

    @pytest.mark.parametrize(
        ("truth", "stranger", "batched", "names"),
        [
            (np.array([[1.0, 2.0]]), None, True, ["zeros", "the mean"]),
            (np.array([[1.0], [1.0]]), None, True, ["zeros", "the mean"]),
            (np.array([[1.0], [2.0]]), None, False, ["zeros", "the mean"]),
            (np.array([[5.0], [5.0]]), np.array([7.0]), True, ["zeros", "another case's output"]),
            (np.array([[5.0], [5.0]]), np.empty(0), True, ["zeros", "the mean"]),
            (np.array([[5.0], [5.0]]), np.array([[7.0], [8.0]]), True, ["zeros", "the mean", "another case's output"]),
            (np.array([[5.0], [6.0]]), np.array([7.0]), False, ["zeros", "the mean", "another case's output"]),
            (np.array([2.0]), np.zeros(0), False, ["zeros"]),
            (np.array(2.0), np.array([3.0]), True, ["zeros", "another case's output"]),
            (np.array([1, 2]), None, False, ["zeros"]),
        ],
    )
    def test_what_equals_the_truth_by_its_making_is_none(
        self, truth: Array, stranger: Array | None, batched: bool, names: list[str]
    ) -> None:
        assert [name for name, _ in impostors(truth, stranger, batched)] == names

    def test_the_floor_measures_impostors_too(self) -> None:
        truth = np.array([1.0, 1.0 + 2.0**-30])
        assert nearest(truth, None, False, (0.0, 0.0), 2.0**-44)[1] > 1000 * nearest(truth, None, False, (0.0, 0.0))[1]

    def test_an_unrelated_case_that_is_equal_is_no_stranger(self) -> None:
        expected = of(np.array([[1.0, 2.0], [3.0, 5.0]]))
        equal, unlike = of(expected.truth, seed=1), of(np.array([[9.0, 2.0], [3.0, 5.0]]), seed=2)
        assert judged(expected, expected.eager, 4.0, [equal]).outcome == "vacuous"
        assert "every case has the same output" in judged(expected, expected.eager, 4.0, [equal]).reason
        assert judged(expected, expected.eager, 4.0, [equal, unlike]).outcome == "match"

    def test_a_case_without_elements_stands_before_no_other(self) -> None:
        truth, empty = np.array([[1.0, 2.0], [3.0, 5.0]]), of(np.zeros((0, 2)), seed=3)
        expected, near = of(truth, FLOOR), of(truth * (1 + 2 * FLOOR), FLOOR, seed=1)
        assert judged(expected, expected.eager, 4.0, [empty]).outcome == "match"
        assert judged(expected, expected.eager, 4.0, [empty, near]).outcome == "vacuous"

    @pytest.mark.parametrize(("times", "name"), [(0.95, "the mean"), (1.05, "the rows reversed")])
    def test_rows_that_only_float64_tells_apart_are_equal(self, times: float, name: str) -> None:
        """In reverse they err by a ten-thousandth of the floor, times so much."""
        rows = np.array([[1.0, 2.0], [1.0, 2.0 + 2 * 1e-4 * times * FLOOR]])
        assert nearest(rows, None, True, (0.0, 0.0))[0] == name

    def test_another_case_s_output_that_is_close_passes_for_this_one(self) -> None:
        truth = np.array([[1.0, 2.0], [3.0, 5.0]])
        expected, near = of(truth, FLOOR), of(truth * (1 + 2 * FLOOR), FLOOR, seed=1)
        found = judged(expected, expected.eager, 4.0, [near])
        assert found.outcome == "vacuous" and found.reason.startswith("another case's output would have passed")
        related = replace(near, **{key: getattr(expected, key) for key in ("draw", "seed") if hasattr(near, key)})
        assert judged(expected, expected.eager, 4.0, [related]).outcome == "match", "a related case is no stranger"

    def test_controls_are_those_of_the_budget_and_of_the_cases(self) -> None:
        expected = of(EVEN, 0.125)
        eager = expected.eager
        assert judged(expected, eager, 0.79).outcome == "match" and judged(expected, eager, 8.0).outcome == "vacuous"
        equal = of(EVEN, 0.125, seed=1)
        assert judged(expected, eager, 0.79, [equal]).outcome == "vacuous"
        assert judged(expected, eager, 0.79).outcome == "match"


class TestTheBudget:
    def test_at_the_budget_it_matches_and_beyond_it_does_not(self) -> None:
        truth = np.array([4.0, -4.0, 4.0, -4.0])
        expected = replace(of(truth, 2.0**-20), eager=truth, dtype="float64")
        at, beyond = truth * (1 + 2.0**-18), truth * (1 + 2.0**-18 * 1.001)
        found = judged(expected, at)
        assert (found.outcome, found.elements, dict(found.metrics), found.compared) == (
            "match",
            4,
            {"error_ratio": 4.0},
            True,
        )
        wrong = judged(expected, beyond)
        assert wrong.outcome == "mismatch" and wrong.reason == "error ratio 4.004 is over the budget of 4"
        assert wrong.metrics["error_ratio"] > 4 and wrong.compared and wrong.elements == 4

    def test_eager_s_own_ratio_is_computed_once_and_that_of_others_each_time(self) -> None:
        truth = np.array([1.0, 2.0, -4.0])
        expected = replace(of(truth, 2.0**-20), eager=truth * (1 + 2.0**-20), dtype="float64")
        assert judged(expected, truth).metrics["error_ratio"] == 0.0
        first = judged(expected, expected.eager).metrics["error_ratio"]
        assert first == pytest.approx(1.0) and judged(expected, expected.eager).metrics["error_ratio"] == first
        assert judged(expected, truth).metrics["error_ratio"] == 0.0

    @pytest.mark.parametrize(("grown", "outcome"), [(3.9, "match"), (4.1, "mismatch"), (-4.1, "mismatch")])
    @pytest.mark.parametrize("norm", [0, 1])
    def test_of_a_sample_the_norms_of_the_whole_are_compared(self, norm: int, grown: float, outcome: str) -> None:
        truth = np.array([1.0, -1.0, 8.0, -8.0, 1.0, 1.0])
        expected = golden(truth, index=np.array([0, 1, 4, 5]))
        size = list(expected.scale)
        size[norm] /= 1 + grown * 2.0**-12
        expected = replace(expected, scale=(size[0], size[1]), e_ref=(2.0**-12, 2.0**-12))
        found = judged(expected, truth.astype("float32"))
        assert found.outcome == outcome
        assert found.metrics["error_ratio"] == pytest.approx(abs(grown), rel=1e-3)

    def test_of_a_sample_an_element_that_was_kept_is_compared(self) -> None:
        truth = np.array([1.0, -1.0, 8.0, -8.0])
        expected = replace(golden(truth, index=np.array([0, 1])), e_ref=(2.0**-12, 2.0**-12))
        off = truth.copy()
        off[0] += 5 * 2.0**-12
        assert judged(expected, off.astype("float32")).outcome == "mismatch"


class TestBeforeValues:
    TRUTH = np.array([[1.0, 2.0], [3.0, 5.0]])

    def test_each_reason_is_said_with_what_was_counted(self) -> None:
        expected, right = of(self.TRUTH), self.TRUTH.astype("float32")
        assert judged(expected, self.TRUTH) == Judged("mismatch", "dtype is float64, eager's is float32")
        assert judged(expected, right[:1]) == Judged("mismatch", "shape is [1, 2], eager's is [2, 2]")
        empty = of(np.zeros((0, 2)), gate="shut")
        assert judged(empty, np.zeros((0, 2), "float32")) == Judged(
            "vacuous", "the output has no elements, so nothing was compared"
        )
        assert judged(replace(expected, gate="shut"), right) == Judged("inconclusive", "shut", 4)
        bad = right.copy()
        bad[1, 1] = np.nan
        assert judged(expected, bad) == Judged("mismatch", "holds NaN or infinity where eager is finite", 4)
        assert judged(replace(expected, gate="shut"), bad).outcome == "inconclusive", "a shut gate comes first"

    def test_beside_a_sample_nothing_is_infinite_either(self) -> None:
        expected = replace(golden(self.TRUTH, index=np.array([0])), e_ref=(1e-6, 1e-6))
        off = self.TRUTH.astype("float32")
        off[1, 1] = np.inf
        assert judged(expected, off) == Judged("mismatch", "holds NaN or infinity where eager is finite", 4)

    def test_what_was_not_compared_has_no_elements(self) -> None:
        found = Judged("missing", "it did not come")
        assert (found.elements, dict(found.metrics), found.compared) == (0, {}, False)

    def test_of_a_whole_output_the_recorded_size_is_not_looked_at(self) -> None:
        expected = of(self.TRUTH, scale=(9.0, 9.0))
        assert judged(expected, expected.eager).outcome == "match"

    def test_labels_of_a_sample_are_not_asked_for_norms(self) -> None:
        labels = np.array([3, 2**62, 5, 7])
        expected = golden(labels, index=np.array([0, 2]))
        assert judged(expected, labels).outcome == "match"


class TestLabels:
    TRUTH = np.array([[1.0, 1.0 - 2.0**-7], [1.0, -1.0]])

    def scores(self, truth: Array = TRUTH, **more: Any) -> GoldenOutput:
        """By e_ref of 2⁻¹⁰ and a scale of 1, labels at most 2 · 4 · 2⁻¹⁰ apart are a near tie at a budget of 4."""
        return replace(golden(truth, name="scores"), e_ref=(2.0**-10, 2.0**-10), **more)

    def labels(self, **more: Any) -> GoldenOutput:
        return replace(golden(np.array([0, 0]), name="label"), scores=("scores", 1), **more)

    def wrong(self, got: list[int], scores: GoldenOutput | None = None, **more: Any) -> int:
        return unexplained(self.labels(**more), np.array(got), {"scores": scores or self.scores()}, 4.0)

    def test_a_near_tie_is_twice_what_a_score_may_err(self) -> None:
        assert self.wrong([1, 0]) == 0
        assert self.wrong([0, 1]) == 1 and self.wrong([1, 1]) == 1
        beyond = self.TRUTH.copy()
        beyond[0, 1] = 1.0 - 2.0**-7 * 1.001
        assert self.wrong([1, 0], self.scores(beyond)) == 1
        assert self.wrong([1, 0], replace(self.scores(beyond), e_ref=(2.0**-9, 2.0**-20))) == 0, "by the max norm"
        half = self.scores(self.TRUTH / 2)
        assert self.wrong([1, 0], half) == 0 and self.wrong([1, 0], self.scores(beyond / 2)) == 1, "in their scale"

    @pytest.mark.parametrize("label", [-1, 2, 7])
    def test_a_label_that_is_none_is_wrong(self, label: int) -> None:
        assert self.wrong([label, 0]) == 1

    def test_without_whole_scores_every_difference_is_wrong(self) -> None:
        assert self.wrong([1, 0], self.scores(gate="shut")) == 1
        assert self.wrong([1, 0], self.scores(index=np.arange(4))) == 1
        assert self.wrong([1, 0], scores=None) == 0
        assert unexplained(replace(self.labels(), scores=None), np.array([1, 0]), {}, 4.0) == 1
        assert self.wrong([0, 0], self.scores(gate="shut")) == 0

    def test_the_first_label_may_be_the_near_tie(self) -> None:
        turned = {"scores": self.scores(self.TRUTH[:, ::-1].copy())}
        expected = replace(golden(np.array([1, 1])), scores=("scores", 1))
        assert unexplained(expected, np.array([0, 1]), turned, 4.0) == 0
        assert unexplained(expected, np.array([1, 0]), turned, 4.0) == 1

    def test_of_sampled_labels_there_are_no_rows(self) -> None:
        sampled = self.labels(index=np.array([0, 1]))
        assert unexplained(sampled, np.array([1, 0]), {"scores": self.scores()}, 4.0) == 1

    def test_labels_may_keep_the_axis_and_have_any(self) -> None:
        kept = replace(golden(np.array([[0], [0]])), scores=("scores", 1))
        assert unexplained(kept, np.array([[1], [0]]), {"scores": self.scores()}, 4.0) == 0
        assert unexplained(kept, np.array([[0], [1]]), {"scores": self.scores()}, 4.0) == 1
        first = replace(golden(np.array([0, 0])), scores=("scores", 0))
        turned = {"scores": self.scores(self.TRUTH.T.copy())}
        assert unexplained(first, np.array([1, 0]), turned, 4.0) == 0
        assert unexplained(first, np.array([0, 1]), turned, 4.0) == 1

    def judge(self, got: list[int], expected: GoldenOutput, others: Sequence[GoldenOutput] = ()) -> Judged:
        return judge_output(expected, np.array(got), 4.0, [expected, *others], {"scores": self.scores()})

    def test_what_is_wrong_is_counted_and_said(self) -> None:
        found = self.judge([0, 1], self.labels())
        assert found.reason == "1 of 2 elements differ; no near tie of the scores explains them"
        assert (found.outcome, found.elements, found.compared) == ("mismatch", 2, True)
        plain = self.judge([0, 1], replace(self.labels(), scores=None))
        assert plain.reason == "1 of 2 elements differ; this dtype allows none"

    def test_labels_that_say_nothing_are_vacuous(self) -> None:
        zeros, ones = self.labels(), golden(np.array([1, 1]), seed=1)
        assert self.judge([0, 0], zeros).reason == "zeros would have passed in every case"
        assert self.judge([0, 0], zeros, [golden(np.array([0, 0]), seed=1)]).outcome == "vacuous"
        assert self.judge([0, 0], zeros, [ones]) == Judged("match", "", 2, {}, True)
        same = self.judge([1, 1], ones, [golden(np.array([1, 1, 1]), seed=2)])
        assert same.reason == "another case's output would have passed in every case" and same.outcome == "vacuous"
        both = replace(golden(np.array([0, 1])), scores=("scores", 1))
        assert self.judge([0, 1], both, [golden(np.array([1, 0]), seed=1)]).outcome == "match"
        assert self.judge([1, 1], ones).outcome == "match", "one case alone is compared with zeros only"
        unlike = golden(np.array([1, 2]), seed=3)
        assert self.judge([1, 1], ones, [golden(np.array([1, 1]), seed=2), unlike]).outcome == "match"


class TestWholeCases:
    A, B = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[9.0, 2.0], [3.0, -5.0]])

    def case(self, name: str = "batch=2") -> GoldenCase:
        outputs = {"a": golden(self.A, name="a"), "b": golden(self.B, name="b")}
        return GoldenCase(name, {"batch": 2}, outputs, name)

    def judge(self, got: dict[str, Array], budget: float | None = 4.0, name: str = "batch=2") -> dict[str, Judged]:
        case = self.case(name)
        return judge_case(case, got, {key: [value] for key, value in case.outputs.items()}, budget)

    def right(self) -> dict[str, Array]:
        return {"a": self.A.astype("float32"), "b": self.B.astype("float32")}

    def test_all_that_was_promised_and_no_more(self) -> None:
        assert {name: found.outcome for name, found in self.judge(self.right()).items()} == {"a": "match", "b": "match"}
        missing = self.judge({"b": self.right()["b"]})
        assert missing["a"] == Judged("missing", "no output of this name came; what came: b")
        assert missing["b"].outcome == "match" and missing["a"].elements == 0
        assert self.judge({})["b"].reason == "no output of this name came; what came: nothing"
        more = self.judge({**self.right(), "z": self.A, "c": self.A})
        assert more["a"] == Judged("mismatch", "outputs came that nobody promised: c, z") == more["b"]
        both = self.judge({"a": self.right()["a"], "c": self.A})
        assert both["b"] == Judged("missing", "no output of this name came; what came: a, c")
        assert both["a"].outcome == "mismatch"

    @pytest.mark.parametrize(
        ("name", "outcome"),
        [
            ("batch=2", "mismatch"),
            ("batch=2:again", "mismatch"),
            ("batch=2:large", "match"),
            ("batch=2:large:again", "match"),
        ],
    )
    def test_in_reduced_precision_only_promised_cases_are_compared_with_impostors(
        self, name: str, outcome: str
    ) -> None:
        zeros = {**self.right(), "a": np.zeros((2, 2), "float32")}
        assert self.judge(zeros, None, name)["a"].outcome == outcome
        assert self.judge(self.right(), None, name)["a"].outcome == "match"
        assert "snr_db" in self.judge(self.right(), None, name)["a"].metrics

    def test_with_a_budget_the_error_ratio_decides(self) -> None:
        off = {**self.right(), "a": (self.A * 1.001).astype("float32")}
        found = self.judge(off)
        assert (found["a"].outcome, found["b"].outcome) == ("mismatch", "match")
        assert self.judge(off, None)["a"].outcome == "match"


class TestReducedPrecision:
    TRUTH = np.array([[3.0, 1.0, -1.0], [1.0, 4.0, 0.0]])

    def judge(
        self,
        got: Array,
        expected: GoldenOutput | None = None,
        others: Sequence[GoldenOutput] = (),
        probes: bool = False,
    ) -> Judged:
        expected = expected or of(self.TRUTH)
        return judge_reduced(expected, got, [expected, *others], probes)

    def test_energies_and_agreement_are_measured(self) -> None:
        got = self.TRUTH.astype("float32")
        got[1] = [2.0, 1.0, 0.0]
        found = self.judge(got)
        assert dict(found.metrics) == {
            "signal": 28.0,
            "noise": 10.0,
            "snr_db": decibel(28.0, 10.0),
            "rows": 2.0,
            "agree": 1.0,
        }
        assert (found.outcome, found.elements, found.compared) == ("match", 6, True)

    def test_what_is_no_nearer_than_an_impostor_fails(self) -> None:
        mean = np.full((2, 3), self.TRUTH.mean(), "float32")
        found = self.judge(mean)
        assert found.outcome == "mismatch" and found.reason.endswith("dB: no nearer to the truth than the mean")
        assert found.reason.startswith(f"{found.metrics['snr_db']:.1f} dB")
        assert (found.elements, found.compared) == (6, True)
        assert self.judge(mean, probes=True).outcome == "match"
        assert self.judge(self.TRUTH.astype("float32")).outcome == "match"

    def test_another_case_s_output_is_an_impostor(self) -> None:
        near = of(self.TRUTH + 0.125, seed=1)
        off = (self.TRUTH + 0.25).astype("float32")
        assert self.judge(off).outcome == "match"
        found = self.judge(off, others=[near])
        assert found.outcome == "mismatch" and found.reason.endswith("another case's output")
        assert self.judge(off, others=[of(np.zeros((0, 3)), seed=1)]).outcome == "match"

    def test_an_unrelated_case_with_elements_is_a_stranger(self) -> None:
        near, empty = of(self.TRUTH + 0.125, seed=1), of(np.zeros((0, 3)), seed=2)
        off = (self.TRUTH + 0.25).astype("float32")
        assert self.judge(off, others=[empty, near]).outcome == "mismatch"
        assert self.judge(off, others=[replace(near, draw=of(self.TRUTH).draw)]).outcome == "match"

    def test_as_far_off_as_an_impostor_is_no_nearer(self) -> None:
        assert self.judge(np.zeros((2, 2), "float32"), of(EVEN)).outcome == "mismatch"

    def test_rows_in_another_order_are_none_here(self) -> None:
        rows = np.array([[1.0, 5.0], [1.125, 5.0]])
        assert self.judge((rows + 0.5).astype("float32"), of(rows)).outcome == "match"

    def test_every_row_of_scores_counts(self) -> None:
        scores = np.random.default_rng(0).standard_normal((2, 3, 4))
        got = scores.astype("float32")
        got[1, 2] = got[1, 2, ::-1]
        found = self.judge(got, of(scores))
        assert (found.metrics["rows"], found.metrics["agree"]) == (6.0, 5.0)
        narrow = self.judge(got[:, :1], of(scores[:, :1]))
        assert (narrow.metrics["rows"], narrow.metrics["agree"]) == (2.0, 2.0)

    def test_rows_of_one_score_and_flat_outputs_have_no_agreement(self) -> None:
        for value in (np.array([1.0, 2.0]), np.array([[1.0], [2.0]])):
            assert "rows" not in self.judge(value.astype("float32"), of(value)).metrics
        sampled = golden(self.TRUTH, index=np.arange(6))
        assert "rows" not in self.judge(self.TRUTH.astype("float32"), sampled).metrics

    def test_labels_agree_or_not(self) -> None:
        labels = golden(np.array([1, 2, 3]))
        found = self.judge(np.array([1, 2, 4]), labels)
        assert found == Judged("match", "", 3, {"rows": 3.0, "agree": 2.0}, True)

    def test_what_does_not_fit_fails_before(self) -> None:
        assert self.judge(self.TRUTH).outcome == "mismatch" and not self.judge(self.TRUTH).compared


class TestPromises:
    def test_what_a_budget_promises_of_an_output(self) -> None:
        assert promised_of(False, 30.0, None) == {"snr_db": 30.0}
        assert promised_of(False, 30.0, 0.5) == {"snr_db": 30.0, "top1": 0.5}
        assert promised_of(False, None, None) == {}
        assert promised_of(True, 30.0, None) == {"top1": AGREEMENT} and AGREEMENT == 0.9
        assert promised_of(True, None, 0.5) == {"top1": 0.5}

    def cases(self) -> dict[str, GoldenOutput]:
        values = np.random.default_rng(0).standard_normal((2, 8, 4))
        return {"a": golden(values[0]), "b": golden(values[1], seed=1)}

    def seen(self, goldens: dict[str, GoldenOutput], off: float = 0.01, wrong: int = 0) -> dict[str, Judged]:
        found = {}
        for name, expected in goldens.items():
            got = (expected.truth * (1 + off)).astype("float32")
            got[:wrong] = got[:wrong, ::-1]
            found[name] = judge_reduced(expected, got, [expected], True)
        return found

    def judge(self, kind: str, wanted: float, **how: Any) -> Judged:
        goldens = self.cases()
        return judge_promise(kind, wanted, goldens, self.seen(goldens, **how))

    def test_energies_are_added_over_the_cases(self) -> None:
        found = self.judge("snr_db", 39.9)
        assert found.outcome == "match" and found.metrics["snr_db"] == pytest.approx(40.0, abs=1e-3)
        assert found.elements == 64 and found.reason == "40.0 dB, at least 39.9 promised"
        goldens = self.cases()
        exact = found.metrics["snr_db"]
        assert judge_promise("snr_db", exact, goldens, self.seen(goldens)).outcome == "match", "as much is enough"
        assert judge_promise("snr_db", exact + 1e-6, goldens, self.seen(goldens)).outcome == "mismatch"

    def test_agreement_is_added_over_the_cases(self) -> None:
        found = self.judge("top1", 0.9)
        assert (found.outcome, found.elements) == ("match", 16)
        low, high = wilson(16, 16)
        assert dict(found.metrics) == {"top1": 1.0, "low": low, "high": high}
        some = self.judge("top1", 0.75, wrong=2)
        assert some.metrics["top1"] == 0.75 and some.outcome == "match", some
        assert some.reason.startswith("12 of 16 agree (95 % interval 0.505 to 0.898), at least 0.75 promised")
        assert self.judge("top1", 0.76, wrong=2).outcome == "mismatch"

    def test_what_an_impostor_reaches_too_is_vacuous(self) -> None:
        found = self.judge("snr_db", 0.0)
        assert found.outcome == "vacuous" and found.elements == 64 and "but the mean would have" in found.reason
        shares = self.judge("top1", 0.3)
        assert shares.outcome == "vacuous" and "but the commonest answer for every row would agree in" in shares.reason

    def test_what_did_not_come_is_no_promise_kept(self) -> None:
        goldens = self.cases()
        seen = self.seen(goldens)
        del seen["b"]
        assert judge_promise("snr_db", 1.0, goldens, seen) == Judged("missing", "case b: no evidence came")
        seen["b"] = Judged("mismatch", "shape is [1], eager's is [2]")
        assert judge_promise("snr_db", 1.0, goldens, seen) == Judged("mismatch", "case b: shape is [1], eager's is [2]")

    def test_without_rows_nothing_is_said_of_agreement(self) -> None:
        goldens = {"a": golden(np.array([1.0, 2.0, 3.0]))}
        seen = {"a": judge_reduced(goldens["a"], np.array([1.0, 2.0, 3.0], "float32"), [goldens["a"]], True)}
        assert judge_promise("top1", 0.5, goldens, seen).outcome == "inconclusive"
        assert judge_promise("snr_db", 50.0, goldens, seen).outcome == "match"

    def test_one_case_without_rows_is_enough(self) -> None:
        goldens = {"a": golden(np.array([[1.0, 2.0], [3.0, 2.0]])), "b": golden(np.array([1.0, 2.0, 3.0]), seed=1)}
        seen = {name: judge_reduced(one, one.eager, [one], True) for name, one in goldens.items()}
        assert judge_promise("top1", 0.5, goldens, seen).outcome == "inconclusive"

    def test_labels_have_no_energies(self) -> None:
        goldens = {"a": golden(np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))}
        seen = {"a": judge_reduced(goldens["a"], goldens["a"].eager, [goldens["a"]], True)}
        assert judge_promise("snr_db", 1.0, goldens, seen).outcome == "inconclusive"
        assert judge_promise("top1", 0.9, goldens, seen).outcome == "match"

    def test_one_row_alone_agrees_with_itself_and_proves_nothing(self) -> None:
        goldens = {"a": golden(np.array([[1.0, 2.0]]))}
        seen = {"a": judge_reduced(goldens["a"], goldens["a"].eager, [goldens["a"]], True)}
        assert judge_promise("top1", 0.9, goldens, seen).outcome == "vacuous"

    def test_constant_outputs_are_the_mean_and_one_row_for_all(self) -> None:
        rows = np.array([[1.0, 9.0], [1.0, 9.0], [1.0, 9.5]])
        found = dict(constants([golden(rows), golden(rows[:1], seed=1)]))
        assert list(found) == ["the mean", "one row for all"] and found["one row for all"] > 20 > found["the mean"] > 0
        centre = np.concatenate([rows, rows[:1]])
        noise = float(np.sum(np.square(centre - centre.mean())))
        assert found["the mean"] == pytest.approx(decibel(float(np.sum(np.square(centre))), noise))
        for other in (golden(np.array([1.0, 2.0]), seed=1), golden(np.ones((1, 3)), seed=1)):
            assert list(dict(constants([golden(rows), other]))) == ["the mean"]
        assert list(dict(constants([golden(rows[:1])]))) == ["the mean"]
        assert list(dict(constants([golden(rows, index=np.arange(6))]))) == ["the mean"]
        flat = [golden(np.array([1.0, 2.0])), golden(np.array([3.0, 2.0]), seed=1)]
        assert list(dict(constants(flat))) == ["the mean"]
        assert list(dict(constants([golden(rows[1:])]))) == ["the mean", "one row for all"], "of two rows, too"

    def labelled(self, labels: list[int], wanted: float) -> Judged:
        goldens = {"a": golden(np.array(labels))}
        seen = {"a": judge_reduced(goldens["a"], goldens["a"].eager, [goldens["a"]], True)}
        return judge_promise("top1", wanted, goldens, seen)

    def test_one_label_for_all_keeps_a_promise_of_its_share(self) -> None:
        found = self.labelled([7, 7, 7, 7, 7, 1, 2, 3, 4, 5], 0.5)
        assert found.outcome == "vacuous"
        assert found.reason.endswith("but the commonest answer for every row would agree in 0.500")
        assert self.labelled([7, 7, 7, 7, 7, 1, 2, 3, 4, 5], 0.501).outcome == "match"

    def test_the_highest_of_each_row_of_scores_is_the_answer(self) -> None:
        scores = np.zeros((2, 3, 4))
        scores[..., 1] = scores[0, 0, 2] = 2.0
        scores[0, 0, 1] = 1.0
        goldens = {"a": golden(scores)}
        seen = {"a": judge_reduced(goldens["a"], goldens["a"].eager, [goldens["a"]], True)}
        found = judge_promise("top1", 5 / 6, goldens, seen)
        assert found.outcome == "vacuous" and found.reason.endswith("would agree in 0.833")
        assert judge_promise("top1", 0.84, goldens, seen).outcome == "match"

    def test_answers_that_are_shuffled_are_an_impostor(self) -> None:
        """The fixed shuffle leaves three of these eight answers as they were."""
        goldens = [golden(np.array([0, 1, 2, 0, 1, 2, 0, 1]))]
        assert list(_answers(goldens)) == [
            ("the commonest answer for every row", 3 / 8),
            ("the answers shuffled", 3 / 8),
        ]


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 10, 0.0, 0.27754), (10, 10, 0.72246, 1.0), (5, 10, 0.23659, 0.76341), (81, 263, 0.25529, 0.36618)],
)
def test_wilson_s_interval(hits: int, trials: int, low: float, high: float) -> None:
    """The last is the example of Newcombe, 1998 (Statistics in Medicine 17, method 3): 0.2553 to 0.3662."""
    assert wilson(hits, trials) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    assert math.isclose(sum(wilson(hits, trials)) + sum(wilson(trials - hits, trials)), 2.0)


@pytest.mark.parametrize("trials", range(1, 60))
def test_an_interval_ends_at_nothing_and_at_all(trials: int) -> None:
    assert wilson(0, trials)[0] == 0.0 and wilson(trials, trials)[1] == 1.0
    assert 0.0 < wilson(trials, trials)[0] < 1.0 and 0.0 < wilson(0, trials)[1] < 1.0
