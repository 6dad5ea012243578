"""Goldens at their limits: what is computed, what is believed, and which numbers shut a gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.golden import (
    E_REF_TIMES,
    LARGEST_ALLOWANCE,
    MANY,
    OTHER_ROUNDING,
    THREADS,
    ZERO,
    GoldenCase,
    GoldenOutput,
    is_argmax,
    one_thread,
    promised,
    read_cases,
    to_run,
)
from exporter.base.numbers.norms import FLOOR, FLOOR_64, SMALLEST_SCALE, WORST_E_REF, error, norms
from exporter.base.tensors import Array
from tests.prove.compare.goldens import golden

TRUTH = np.random.default_rng(0).integers(1, 3, 100).astype("float64")
TRUTH[0] = 2.0


def read(eager: Array, truth: Array = TRUTH, index: Array | None = None, **said: Any) -> GoldenOutput:
    """One output of one case, said to be what it is but for `said`; an input of float32 unless `inputs` are given."""
    inputs = said.pop("inputs", {"x": np.zeros(1, "float32")})
    whole = said.pop("whole", truth)
    tensors = {"a/eager/y": eager, **{f"a/input/{name}": value for name, value in inputs.items()}}
    tensors["b/input/x"] = np.zeros(1, "float16")  # another case's
    if eager.dtype.kind == "f":
        tensors["a/truth/y"] = truth
    if index is not None:
        tensors["a/index/y"] = index
    e_ref = error(truth, eager) if eager.dtype.kind == "f" and truth.size else (0.0, 0.0)
    about = {"dtype": eager.dtype.name, "shape": list(whole.shape), "method": "float64", "gate": "", "scores": None}
    about["allowance"] = 1.0
    about |= dict(zip(("scale_max", "scale_l2", "e_ref_max", "e_ref_l2"), (*norms(whole), *e_ref), strict=True))
    (case,) = read_cases(tensors, [{"name": "a", "dims": {"n": 4}, "outputs": {"y": {**about, **said}}}])
    assert (case.name, case.recorded, case.threads, case.dims) == ("a", "a", 1, {"n": 4})
    return case.outputs["y"]


def near(noise: float, truth: Array = TRUTH) -> Array:
    """An eager run that is off by so much of the largest value, everywhere."""
    return truth + norms(truth)[0] * noise


def test_the_limits_are_those_of_the_docs() -> None:
    assert (E_REF_TIMES, MANY, OTHER_ROUNDING, THREADS, LARGEST_ALLOWANCE) == (24.0, 64, 1.01, 2, 4.0)
    assert (FLOOR, FLOOR_64, SMALLEST_SCALE, WORST_E_REF) == (2.0**-22, 2.0**-44, 2.0**-102, 0.01)


@pytest.mark.parametrize(
    ("said", "expected"), [({}, 1.0), ({"allowance": 2.5}, 2.5), ({"allowance": 4.0}, 4.0), ({"allowance": 9.0}, 4.0)]
)
def test_an_allowance_is_believed_up_to_its_limit(said: dict[str, float], expected: float) -> None:
    found = read(near(1e-6), **said)
    assert found.allowance == expected and found.unit == (expected * found.e_ref[0], expected * found.e_ref[1])


@pytest.mark.parametrize(
    ("dtype", "inputs", "floor"),
    [
        ("float64", ["float64"], FLOOR_64),
        ("float64", [], FLOOR_64),
        ("float64", ["float64", "int64", "bool"], FLOOR_64),
        ("float64", ["float64", "float32"], FLOOR),
        ("float64", ["float16"], FLOOR),
        ("float32", ["float64"], FLOOR),
    ],
)
def test_an_error_is_measured_in_float64_where_nothing_is_narrower(dtype: str, inputs: list[str], floor: float) -> None:
    found = read(TRUTH.astype(dtype), inputs={name: np.zeros(1, name) for name in inputs})
    assert found.floor == floor and found.unit == (floor, floor), "there is no error, so the floor is the unit"


def test_where_nothing_else_is_said_an_error_is_measured_in_float32_and_not_widened() -> None:
    made = golden(TRUTH, eager=near(1e-5))
    assert made.unit == made.e_ref and golden(TRUTH, eager=TRUTH).unit == (FLOOR, FLOOR)


def test_of_a_whole_output_all_is_measured() -> None:
    eager = near(1e-6)
    found = read(eager, scale_max=9.0, scale_l2=9.0, e_ref_max=3e-6, e_ref_l2=4e-6)
    assert (found.scale, found.own) == (norms(TRUTH), error(TRUTH, eager))
    assert (found.e_ref, found.gate, found.exact) == ((3e-6, 4e-6), "", False)
    assert (found.name, found.dtype, found.shape, found.index, found.draw) == ("y", "float64", (100,), None, "a")
    assert found.kept(TRUTH) is TRUTH


@pytest.mark.parametrize("norm", [0, 1])
@pytest.mark.parametrize(("share", "shut"), [(1.0, False), (0.992, False), (0.985, True), (0.93, True)])
def test_eager_errs_by_e_ref_and_a_hundredth_at_most(norm: int, share: float, shut: bool) -> None:
    eager = near(1e-5)
    own = error(TRUTH, eager)
    said = {("e_ref_max", "e_ref_l2")[norm]: own[norm] * share}
    found = read(eager, scale_max=9.0, scale_l2=9.0, **said)
    assert bool(found.gate) == shut and (found.own, found.scale) == (own, norms(TRUTH))
    if shut:
        assert (
            found.gate
            == f"eager is off by {own[norm]:.1e}, and its e_ref is {own[norm] * share:.1e}: not what was recorded"
        )
    else:
        assert found.e_ref == own, "what is computed counts, where it is larger"


def test_below_the_floor_nobody_asks_what_eager_errs() -> None:
    within = read(near(FLOOR * 0.6), e_ref_max=0.0, e_ref_l2=0.0)
    assert not within.gate and within.e_ref == within.own and within.unit == (FLOOR, max(FLOOR, within.own[1]))
    just = read(near(FLOOR, np.full(9, 2.0)), np.full(9, 2.0), e_ref_max=0.0, e_ref_l2=0.0)
    assert not just.gate and just.own == (FLOOR, FLOOR)


INDEX = np.arange(0, 100, 3)


def sampled(noise: float = 1e-5, **said: Any) -> GoldenOutput:
    return read(near(noise)[INDEX], TRUTH[INDEX], INDEX, whole=TRUTH, **said)


def test_of_a_sample_the_scale_is_said_and_bounded_by_what_was_kept() -> None:
    own = norms(TRUTH[INDEX])
    found = sampled(scale_max=8.0, scale_l2=7.0, e_ref_l2=1e-9)
    assert (found.scale, found.gate) == ((8.0, 7.0), "")
    off = norms(near(1e-5)[INDEX] - TRUTH[INDEX])
    assert found.own == (off[0] / 8.0, off[1] / own[1]) and found.e_ref[1] == 1e-9, "the other norm is of the whole"
    assert sampled(scale_max=0.5, scale_l2=7.0).scale == (2.0, 7.0)
    assert found.shape == (100,) and found.kept(TRUTH).tolist() == TRUTH[INDEX].tolist()
    assert "not what was recorded" in sampled(e_ref_max=1e-7).gate and not sampled(e_ref_max=3e-5).gate
    with pytest.raises(ValueError, match="'y' has no size to measure errors by"):
        sampled(scale_l2=0.0)
    with pytest.raises(ValueError, match="'y' has no size to measure errors by"):
        sampled(scale_l2=float("nan"))
    assert not sampled(scale_l2=0.5).gate


@pytest.mark.parametrize(("largest", "shut"), [(1.0, False), (1.04, False), (0.99, True), (0.0, True)])
def test_near_the_denormals_nothing_is_proven(largest: float, shut: bool) -> None:
    truth = TRUTH * SMALLEST_SCALE * largest / 2
    found = read(truth.copy(), truth, scale_max=9.0, scale_l2=9.0)
    assert ("is zero or near the denormals" in found.gate) == shut and found.scale == norms(truth)
    found = read(truth[INDEX], truth[INDEX], INDEX, whole=truth, scale_max=SMALLEST_SCALE * 0.999, scale_l2=1.0)
    assert bool(found.gate) == shut, "the sample may show more than is said"


@pytest.mark.parametrize("kind", ["sized", "settled"])
@pytest.mark.parametrize(
    ("eager", "truth", "zero"),
    [([0.0, 0.0], [0.0, 0.0], True), ([0.0, 1.0], [0.0, 0.0], False), ([0.0, 0.0], [0.0, 1.0], False)],
)
def test_any_number_is_infinitely_far_from_zeros_that_no_input_decides(
    kind: str, eager: list[float], truth: list[float], zero: bool
) -> None:
    found = read(np.array(eager), np.array(truth), **{kind: True}, e_ref_max=1.0, e_ref_l2=1.0)
    assert found.scale == norms(np.array(truth)) and (found.e_ref == (0.0, 0.0)) is zero
    said = dict.fromkeys(("scale_max", "scale_l2"), 9.0)
    assert read(np.zeros(2), np.zeros(2), **{kind: True}, **said).scale == (0.0, 0.0), "whatever is said"


def test_sizes_excuse_no_number_near_the_denormals() -> None:
    small = np.array([1e-38, 2e-38])
    assert read(small, small, sized=True).gate == ZERO.format(2e-38)


@pytest.mark.parametrize(("e_ref", "shut"), [(0.0025, False), (0.00251, True), (0.0027, True), (0.001, False)])
@pytest.mark.parametrize("norm", ["e_ref_max", "e_ref_l2"])
def test_four_times_e_ref_are_a_hundredth_at_most(norm: str, e_ref: float, shut: bool) -> None:
    found = read(near(0.0008), **{norm: e_ref})
    assert found.gate == (f"rounding alone moves it by {e_ref:.1e} of its size" if shut else "")
    assert found.scale == norms(TRUTH) and max(found.e_ref) == e_ref and found.own == error(TRUTH, near(0.0008))


@pytest.mark.parametrize(("values", "which"), [(([1.0, np.inf], [1.0, 2.0]), 0), (([1.0, 2.0], [np.nan, 2.0]), 1)])
def test_what_is_not_finite_proves_nothing(values: tuple[list[float], list[float]], which: int) -> None:
    eager, truth = map(np.array, values)
    found = read(eager, truth, scale_max=1.0, scale_l2=1.0, e_ref_max=0.0, e_ref_l2=0.0)
    assert found.gate == "eager or float64 is not finite" and which in (0, 1)


def test_whole_numbers_empty_outputs_and_shut_ones_are_not_measured() -> None:
    labels = read(np.arange(6), np.arange(6), scale_max=5.0, scale_l2=4.0, e_ref_max=3.0, e_ref_l2=2.0)
    assert (labels.scale, labels.e_ref, labels.own, labels.gate) == ((5.0, 4.0), (3.0, 2.0), (0.0, 0.0), "")
    assert labels.exact and labels.truth is labels.eager
    empty = read(np.zeros((0, 3)), np.zeros((0, 3)), e_ref_max=3.0)
    assert (empty.gate, empty.e_ref[0]) == ("", 3.0)
    shut = read(near(0.5), gate="eager differs", e_ref_max=7.0)
    assert (shut.gate, shut.e_ref[0], shut.own) == ("eager differs", 7.0, (0.0, 0.0))


class TestWhatExplainsAnError:
    """An e_ref is at most 24 times what eager errs in its case or in any plain one; more where the numbers are few."""

    def gates(self, *sizes: tuple[str, int, float], e_ref: float = 0.0, **more: Any) -> dict[str, str]:
        """Cases by name, with so many numbers and so large an error of eager; `e_ref` is said of the first."""
        tensors, cases = {}, []
        for at, (name, size, noise) in enumerate(sizes):
            truth = TRUTH[:size]
            eager = near(noise, truth)
            tensors |= {f"{name}/input/x": np.zeros(1, "float32"), f"{name}/eager/y": eager, f"{name}/truth/y": truth}
            own = error(truth, eager)
            said = {"dtype": "float64", "shape": [size], "method": "float64", "gate": "", "scores": None}
            said |= {"scale_max": 1.0, "scale_l2": 1.0}
            said |= {"e_ref_max": max(own[0], 0.0 if at else e_ref), "e_ref_l2": own[1], **({} if at else more)}
            cases.append({"name": name, "dims": {}, "outputs": {"y": said}})
        return {case.name: case.outputs["y"].gate for case in read_cases(tensors, cases)}

    @pytest.mark.parametrize(("times", "shut"), [(23.9, False), (24.5, True), (26.0, True)])
    def test_by_its_own(self, times: float, shut: bool) -> None:
        found = self.gates(("a", 100, 1e-6), e_ref=times * 1e-6)
        said = f"its e_ref is {times:.3g} times what eager errs, which rounding does not explain"
        assert found["a"] == (said if shut else "")

    @pytest.mark.parametrize(("times", "shut"), [(23.9, False), (24.5, True)])
    def test_by_that_of_another_plain_case(self, times: float, shut: bool) -> None:
        assert bool(self.gates(("a", 100, 1e-7), ("b", 100, 1e-6), e_ref=times * 1e-6)["a"]) == shut
        assert self.gates(("a", 100, 1e-7), ("a:large", 100, 1e-6), e_ref=23.9 * 1e-6)["a"], (
            "a probing one explains nothing"
        )
        assert not self.gates(("a:large", 100, 1e-7), ("a", 100, 1e-6), e_ref=23.9 * 1e-6)["a:large"]

    @pytest.mark.parametrize(("times", "shut"), [(47.0, False), (49.0, True)])
    def test_of_half_as_many_numbers_by_twice_as_much(self, times: float, shut: bool) -> None:
        assert bool(self.gates(("a", 32, 1e-6), e_ref=times * 1e-6)["a"]) == shut
        assert bool(self.gates(("a", 16, 1e-6), ("b", 16, 1e-6), e_ref=times * 1e-6)["a"]) == shut

    def test_below_the_floor_by_the_floor(self) -> None:
        assert not self.gates(("a", 100, 1e-9), e_ref=24 * FLOOR)["a"]
        assert self.gates(("a", 100, 1e-9), e_ref=24.5 * FLOOR)["a"]

    def test_in_each_norm(self) -> None:
        own = error(TRUTH, near(1e-6))[1]
        assert not self.gates(("a", 100, 1e-6), e_ref_l2=23.9 * own)["a"]
        assert self.gates(("a", 100, 1e-6), e_ref_l2=24.5 * own)["a"]

    def test_a_case_that_is_shut_or_empty_explains_nothing(self) -> None:
        cases = (("a", 100, 1e-7), ("b", 100, 1e-6), ("c", 0, 0.0))
        assert not self.gates(*cases, e_ref=23.9 * 1e-6)["a"]
        assert self.gates(("a", 100, 1e-7), ("b", 100, 0.3), e_ref=23.9 * 1e-6)["a"], "b amplifies too much itself"


@pytest.mark.parametrize(
    ("labels", "scores", "axis", "expected"),
    [
        ([1, 0], [[0.0, 1.0], [2.0, 1.0]], 1, True),
        ([[1], [0]], [[0.0, 1.0], [2.0, 1.0]], 1, True),
        ([1, 1, 0], [[0.0, 1.0, 5.0], [2.0, 3.0, 4.0]], 0, True),
        ([[1, 1, 0]], [[0.0, 1.0, 5.0], [2.0, 3.0, 4.0]], 0, True),
        ([2, 2], [[0.0, 1.0, 5.0], [2.0, 3.0, 4.0]], 1, True),
        ([1, 1], [[0.0, 1.0], [2.0, 1.0]], 1, False),
        ([1, 0], [[0.0, 1.0], [2.0, 1.0]], 2, False),
        ([1, 0], [[0.0, 1.0], [2.0, 1.0]], -1, False),
        ([1, 0], [[0, 1], [2, 1]], 1, False),
        ([0, 0], [[3.0], [4.0]], 1, False),
        ([1, 0], [[0.0, 1.0], [2.0, np.nan]], 1, False),
        ([1, 0], [[-np.inf, 1.0], [2.0, 1.0]], 1, False),
        ([[1, 0]], [[0.0, 1.0], [2.0, 1.0]], 1, False),
        ([1], [0.0, 4.0], 0, True),
        (1, [0.0, 4.0], 0, True),
        ([[1, 0], [0, 1]], [[[0.0, 1.0], [3.0, 0.0]], [[2.0, 1.0], [0.0, 4.0]]], 2, True),
        ([[1, 0], [0, 1]], [[[0.0, 1.0], [3.0, 0.0]], [[2.0, 1.0], [0.0, 4.0]]], 1, True),
        ([[0, 1], [1, 0]], [[[0.0, 1.0], [3.0, 0.0]], [[2.0, 1.0], [0.0, 4.0]]], 1, False),
        (np.ones((1,) * 10, int), np.array([3.0, 4.0]).reshape((1,) * 10 + (2,)), 10, True),
    ],
)
def test_labels_are_the_argmax_along_an_axis_of_two_or_more(
    labels: Any, scores: Any, axis: int, expected: bool
) -> None:
    assert is_argmax(np.array(labels), np.array(scores), axis) is expected


def test_the_first_is_run_again_and_the_largest_in_two_threads() -> None:
    def case(name: str, **dims: int) -> GoldenCase:
        return GoldenCase(name, dims, {}, name)

    recorded = (case("a", n=2, m=2), case("b", n=3, m=2), case("c", n=5, m=1))
    run = to_run(recorded)
    assert run[:3] == recorded
    assert run[3] == replace(recorded[0], name="a:again") and run[4] == replace(
        recorded[1], name="b:threads=2", threads=2
    )
    assert [promised(name) for name in ("a", "a:again", "a:zeros")] == [True, False, False]
    assert [one_thread(one.name) for one in run] == [True] * 4 + [False]
