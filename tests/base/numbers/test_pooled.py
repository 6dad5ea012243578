"""The sums over all cases, by numbers that can be added up by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import FLOOR
from exporter.base.numbers.pooled import Draws, Pooled, draws
from exporter.base.numbers.rule import Judged
from exporter.base.tensors import Array

UNIT = 2.0**-10


def output(truth: Any, **more: Any) -> GoldenOutput:
    """A golden whose eager is exact, in a unit of 2^-10 unless more is said."""
    value = np.array(truth, "float64")
    given: dict[str, Any] = {"eager": value, "scale": (1.0, 1.0), "e_ref": (UNIT, UNIT), "index": None, "draw": "0"}
    given |= {"gate": "", "scores": None, "shape": value.shape, "dtype": "float64", **more}
    return GoldenOutput(name="y", truth=value, **given)


def cases(*outputs: GoldenOutput, names: Sequence[str] = "abcdef") -> list[GoldenCase]:
    return [GoldenCase(name, {}, {"y": one}, name) for name, one in zip(names, outputs, strict=False)]


def apart(*truths: Any, **more: Any) -> list[GoldenCase]:
    """Each case a draw of its own."""
    return cases(*(output(truth, draw=str(at), **more) for at, truth in enumerate(truths)))


def judged(recorded: list[GoldenCase], *off: Any, budget: float = 4.0) -> Judged:
    together = Pooled(draws(recorded))
    for case, error in zip(recorded, off, strict=False):
        together.add(case.name, {"y": case.outputs["y"].truth + np.array(error)})
    return together.judge(budget)["y"]


class TestSums:
    """Two rows and one, of two features: units of 0.04 in the largest error, and of 0.06 in the other."""

    RECORDED = apart([[1, 2], [3, 4]], [[5, 6]], scale=(4.0, 2.0), e_ref=(0.01, 0.03))
    OFF = (np.array([[0.1, 0.0], [0.1, 0.2]]), np.array([[0.1, -0.2]]))

    def drawn(self) -> Draws:
        return draws(self.RECORDED)["y"]

    def test_each_case_by_feature_and_along_the_truth(self) -> None:
        drawn = self.drawn()
        assert (drawn.count, drawn.varying, list(drawn.outputs)) == (3, (0,), ["a", "b"])
        first, second = (
            drawn.sum(case.name, case.outputs["y"].truth + off)
            for case, off in zip(self.RECORDED, self.OFF, strict=True)
        )
        assert first.features is not None and second.features is not None
        assert np.allclose(first.features[0], [5, 5]) and np.allclose(first.features[1], [10 / 3, 10 / 3])
        assert np.allclose(second.features[0], [2.5, -5]) and np.allclose(second.features[1], [5 / 3, -10 / 3])
        assert first.gain == pytest.approx(2 * (1.2 / 0.06 / 2) / 4)
        assert second.gain == pytest.approx(-0.7 / 0.06 / 2 / 2)
        assert drawn.ratio([first, second]) == pytest.approx(7.5 / math.sqrt(3))
        narrow = [
            one._replace(features=(one.features[0] * 0.1, one.features[1])) for one in (first, second) if one.features
        ]
        assert drawn.ratio(narrow) == pytest.approx(math.sqrt(5**2 / 2) / math.sqrt(3)), (
            "the other norm is the mean square"
        )
        gains = [first._replace(gain=-50.0), second]
        assert drawn.ratio(gains) == pytest.approx((50.0 + 0.7 / 0.24) / math.sqrt(3))

    def test_no_unit_is_smaller_than_the_floor(self) -> None:
        recorded = apart([[1.0, 2.0]], [[2.0, 1.0]], e_ref=(0.0, 0.0))
        drawn = draws(recorded)["y"]
        found = drawn.sum("a", np.array([[1.0 + FLOOR, 2.0]]))
        assert found.features is not None and np.allclose(found.features[0], [1.0, 0.0])

    def test_a_dimension_that_varies_behind_the_rows_is_averaged(self) -> None:
        recorded = apart([[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 1.0]]])
        drawn = draws(recorded)["y"]
        assert (drawn.count, drawn.varying) == (2, (1,))
        found = drawn.sum("a", np.array([[[1.0 + UNIT, 2.0], [3.0 + 3 * UNIT, 4.0]]]))
        assert found.features is not None and found.features[0].shape == (1, 2)
        assert np.allclose(found.features[0], [[2.0, 0.0]])


class TestDraws:
    def test_rows_count_once_in_whichever_case_they_come_first(self) -> None:
        drawn = draws(apart([[1, 2], [3, 4], [1, 2]], [[3, 4], [5, 6]], [[5, 6]]))["y"]
        assert {case: fresh.tolist() for case, fresh in drawn.rows.items()} == {
            "a": [True, True, False],
            "b": [False, True],
            "c": [False],
        }
        assert drawn.count == 3
        found = drawn.sum("b", np.array([[9.0, 9.0], [5.0 + UNIT, 6.0]]))
        assert found.features is not None and np.allclose(found.features[0], [1, 0]), (
            "a row that came before is not added"
        )
        none = drawn.sum("c", np.array([[9.0, 9.0]]))
        assert none.features is not None and none.features[0].tolist() == [0.0, 0.0] and none.gain == 0.0

    @pytest.mark.parametrize(("by", "alike"), [(0.9, True), (1.0, False), (1.5, False)])
    def test_rows_are_alike_within_a_thousandth_of_the_largest(self, by: float, alike: bool) -> None:
        recorded = apart([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0 + by]], [[9.0, 2.0 + by]], scale=(1000.0, 3.0))
        drawn = draws(recorded)["y"]
        assert drawn.rows["b"].tolist() == [not alike] and drawn.rows["c"].tolist() == [True]

    def test_a_row_that_is_alike_is_no_measure_for_others(self) -> None:
        recorded = apart([[1.0, 2.0]], [[1.0, 2.9]], [[1.0, 3.8], [9.0, 9.0]], scale=(1000.0, 3.0))
        drawn = draws(recorded)["y"]
        assert [fresh.tolist() for fresh in drawn.rows.values()] == [[True], [False], [True, True]]
        beside = draws(apart([[1.0, 2.0]], [[9.0, 9.0], [1.0, 2.9]], [[1.0, 3.8]], scale=(1000.0, 3.0)))["y"]
        assert [fresh.tolist() for fresh in beside.rows.values()] == [[True], [True, False], [True]]

    def test_without_rows_the_whole_is_one_draw(self) -> None:
        drawn = draws(apart([[1, 2], [1, 2]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]))["y"]
        assert (drawn.varying, drawn.count) == ((), 2)
        assert [fresh.tolist() for fresh in drawn.rows.values()] == [[True], [True], [False]]
        found = drawn.sum("b", np.array([[1 + UNIT, 2], [3, 4]]))
        assert found.features is not None and found.features[0].shape == (2, 2) and found.features[0][0, 0] == 1.0

    def test_outputs_of_another_length_are_another_draw(self) -> None:
        assert draws(apart([[1, 2, 3]], [[1, 2]]))["y"].count == 2
        assert draws(apart([1.0], 1.0)) == {}, "of another number of dimensions they are not one output"

    def test_of_each_draw_the_first_that_can_be_judged_counts(self) -> None:
        shut, empty = output([[1, 2]], gate="shut"), output(np.zeros((0, 2)))
        first, again = output([[3, 4]]), output([[5, 6]])
        other = output([[7, 8], [9, 1]], draw="1")
        assert list(draws(cases(shut, empty, first, again, other))["y"].outputs) == ["c", "e"]
        unsized = replace(output([[0, 0]]), scale=(0.0, 0.0))
        assert list(draws(cases(unsized, first, other))["y"].outputs) == ["b", "c"], "nothing measures its errors"
        half = replace(first, scale=(first.scale[0], 0.0))
        assert list(draws(cases(half, other))["y"].outputs) == ["a", "b"]

    def test_none_where_there_are_no_two(self) -> None:
        assert draws(apart([[1, 2]])) == {} and draws(apart([[1, 2]], [[1, 2]])) == {}
        assert draws(cases(output([[1, 2]]), output([[3, 4], [5, 6]]))) == {}, "they are of one draw"
        assert draws(apart([[1, 2]], [[3, 4]]))["y"].count == 2
        assert draws(cases(output([[1, 2]], gate="shut"), output([[3, 4]], gate="shut", draw="1"))) == {}
        whole = [output([at, 1.0], eager=np.array([at, 1]), draw=str(at)) for at in (0, 1)]
        assert draws(cases(*whole)) == {}, "whole numbers have no rounding"

    def test_each_output_by_itself(self) -> None:
        recorded = [
            GoldenCase(str(at), {}, {"y": output([[at, 1.0]], draw=str(at)), "z": output([[1.0]], draw=str(at))}, "")
            for at in range(2)
        ]
        assert list(draws(recorded)) == ["y"]


def test_of_a_sample_only_the_scale_is_summed() -> None:
    index = np.array([0, 3])
    recorded = apart([1.0, 2.0], [2.0, 4.0], index=index, shape=(2, 2), scale=(4.0, 2.0))
    drawn = draws(recorded)["y"]
    assert drawn.count == 2 and drawn.rows["a"].tolist() == [True]
    found = drawn.sum("a", np.array([1.0 + 4 * UNIT, 2.0]))
    assert found.features is None and found.gain == pytest.approx((4 / 2) * (1 / 2) / 2)
    assert drawn.ratio([found, found._replace(gain=-3.0)]) == pytest.approx(2.5 / math.sqrt(2))
    together = Pooled(draws(recorded))
    together.add("a", {"y": np.array([[1.0, 7.0], [7.0, 2.0]])})
    together.add("b", {"y": np.array([[2.0, 7.0], [7.0, 4.0]])})
    assert together.judge(4.0)["y"].metrics == {"combined_ratio": 0.0}, "elsewhere anything may stand"
    differ = [output([1.0, 2.0], index=index, shape=(2, 2)), output([1.0, 2.0], shape=(2,), draw="1")]
    assert draws(cases(*differ)) == {}


def test_a_sample_of_another_number_of_rows_is_still_the_whole() -> None:
    index = np.array([0, 3])
    recorded = cases(
        output([1.0, 2.0], index=index, shape=(2, 2)), output([2.0, 4.0], index=index, shape=(3, 2), draw="1")
    )
    drawn = draws(recorded)["y"]
    assert {case: fresh.tolist() for case, fresh in drawn.rows.items()} == {"a": [True], "b": [True]}
    assert drawn.sum("b", np.array([2.0, 4.0 + UNIT])).gain == pytest.approx(4 / 2)


def test_where_one_case_is_a_sample_the_features_of_the_others_are_not_all() -> None:
    recorded = cases(
        output([[1.0, 2.0], [3.0, 4.0]]), output([2.0, 4.0], index=np.array([0, 3]), shape=(3, 2), draw="1")
    )
    drawn = draws(recorded)["y"]
    whole, sample = drawn.sum("a", np.array([[1.0, 2.0], [3.0, 4.0]]) + UNIT), drawn.sum("b", np.array([2.0, 4.0]))
    assert whole.features is not None and sample == (None, 0.0)
    assert drawn.ratio([whole._replace(gain=0.5), sample]) == pytest.approx(0.5 / math.sqrt(drawn.count))


def test_the_gain_of_one_number_is_its_own() -> None:
    assert draws(apart([[4.0]], [[2.0]]))["y"].sum("a", np.array([[4.0 + UNIT]])).gain == pytest.approx(4.0)


#: Four rows that cancel along the truth: errors of 1.5 units in one direction sum up to 6, over the root of 4.
FOUR = ([[1.0]], [[-1.0], [2.0], [-2.0]])


@pytest.mark.parametrize(
    ("times", "outcome"), [(0.5, "match"), (1.5, "match"), (1.5001, "mismatch"), (1.6, "mismatch"), (-1.6, "mismatch")]
)
def test_three_quarters_of_the_budget_are_the_limit(times: float, outcome: str) -> None:
    found = judged(apart(*FOUR), times * UNIT, times * UNIT)
    assert (found.outcome, found.elements) == (outcome, 4)
    assert found.metrics["combined_ratio"] == pytest.approx(abs(times) * 2)
    if times == 1.5001:
        assert found.reason.endswith("taken together 3.0002, over 3"), "so many digits that it shows"


def varied() -> list[GoldenCase]:
    """The same with a third row in the second case, so that rows are counted."""
    return apart([[1.0], [-1.0], [3.0]], [[2.0], [-2.0], [-3.0], [4.0], [-4.0], [0.5]])


def test_a_mismatch_says_how_many_and_how_far() -> None:
    found = judged(varied(), 3 * UNIT, 3 * UNIT)
    assert found.metrics["combined_ratio"] == pytest.approx(9.0)
    assert found.reason == "9 results err in one direction: taken together 9, over 3"
    assert judged(varied(), 3 * UNIT, 3 * UNIT, budget=12.0) == Judged("match", "", 9, {"combined_ratio": 9.0})
    wide = judged(varied(), 3.01 * UNIT, 3.01 * UNIT, budget=12.0)
    assert wide.outcome == "mismatch" and wide.reason.endswith("taken together 9.03, over 9")


def test_eager_s_own_sum_is_the_unit_where_it_is_larger_than_one() -> None:
    biased = [
        GoldenCase(case.name, {}, {"y": output(one.truth, draw=one.draw, eager=one.truth + 2 * UNIT)}, case.name)
        for case in varied()
        for one in case.outputs.values()
    ]
    assert draws(biased)["y"].of_eager == pytest.approx(6.0)
    assert judged(biased, 3 * UNIT, 3 * UNIT).metrics["combined_ratio"] == pytest.approx(1.5)
    slightly = [
        GoldenCase(case.name, {}, {"y": output(one.truth, draw=one.draw, eager=one.truth + UNIT / 6)}, case.name)
        for case in varied()
        for one in case.outputs.values()
    ]
    assert draws(slightly)["y"].of_eager == pytest.approx(0.5)
    assert judged(slightly, UNIT, UNIT).metrics["combined_ratio"] == pytest.approx(3.0)


def test_where_float32_runs_stand_for_the_truth_what_they_err_alike_is_not_known() -> None:
    central = [
        GoldenCase(case.name, {}, {"y": replace(one, central=case.name == "a")}, case.name)
        for case in varied()
        for one in case.outputs.values()
    ]
    count = draws(central)["y"].count
    assert draws(central)["y"].of_eager == pytest.approx(count**0.5) and draws(varied())["y"].of_eager == 0.0
    assert judged(central, 2.99 * UNIT, 2.99 * UNIT).outcome == "match"
    assert judged(central, 3.01 * UNIT, 3.01 * UNIT).outcome == "mismatch", "an error as large as a case allows"


class TestWhatIsAdded:
    def test_what_does_not_fit_is_not_counted(self) -> None:
        recorded = varied()
        right: Array = recorded[1].outputs["y"].truth
        for wrong in ({}, {"z": right}, {"y": right[:1]}, {"y": right.astype("float32")}, {"y": right.ravel()}):
            together = Pooled(draws(recorded))
            together.add("a", {"y": recorded[0].outputs["y"].truth})
            together.add("b", wrong)
            together.add("none", {"y": right})
            found = together.judge(4.0)["y"]
            assert found == Judged("missing", "only 1 of the 2 cases gave values to be taken together")
        assert judged(recorded, 0.0, 0.0).outcome == "match"

    def test_an_output_that_does_not_fit_hides_no_other(self) -> None:
        recorded = [
            GoldenCase(case.name, {}, {"y": case.outputs["y"], "z": case.outputs["y"]}, case.name) for case in varied()
        ]
        together = Pooled(draws(recorded))
        for case in recorded:
            together.add(case.name, {"y": case.outputs["y"].truth[:1], "z": case.outputs["z"].truth})
        assert {name: found.outcome for name, found in together.judge(4.0).items()} == {"y": "missing", "z": "match"}

    @pytest.mark.parametrize("value", [math.nan, math.inf, 1e308])
    def test_what_is_not_finite_fails(self, value: float) -> None:
        silent = apart([[0.0, 1.0]], [[1.0, 0.0], [2.0, 3.0]])
        assert judged(silent, [[value, 0.0]], 0.0).outcome == "mismatch", "zero times infinity is told as such"
        for place in (0, 2):
            off = np.zeros((3, 1))
            off[place] = value
            assert judged(varied(), off, 0.0).outcome == "mismatch"
