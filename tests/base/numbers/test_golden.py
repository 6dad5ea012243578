"""What the goldens show is computed; what they do not show is believed within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.numbers.golden import (
    E_REF_TIMES,
    MANY,
    SPREAD,
    GoldenCase,
    Partial,
    counting,
    read_cases,
    to_run,
    unvaried,
)
from exporter.base.numbers.norms import FLOOR, error, norms
from exporter.base.tensors import Array


def recorded(values: dict[str, tuple[Array, Array]], **said: Any) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    """Goldens of one output by (eager, truth) in each case, and what the manifest says: the truth, but for `said`."""
    tensors: dict[str, Array] = {}
    cases = []
    for name, (eager, truth) in values.items():
        e_ref, scale = error(truth, eager), norms(truth)
        about = {
            "dtype": eager.dtype.name,
            "shape": list(truth.shape),
            "method": "float64",
            "gate": "",
            "allowance": 1.0,
        }
        about |= {"scale_max": scale[0], "scale_l2": scale[1], "e_ref_max": e_ref[0], "e_ref_l2": e_ref[1], **said}
        tensors |= {f"{name}/input/x": np.zeros(1, "float32"), f"{name}/eager/y": eager, f"{name}/truth/y": truth}
        cases.append({"name": name, "dims": {"batch": len(truth)}, "seed": 0, "outputs": {"y": about}})
    return tensors, cases


def drawn(size: int, seed: int, noise: float) -> tuple[Array, Array]:
    """A truth of so many ones and twos, and an eager run that is off by just `noise` of the largest everywhere."""
    truth = np.random.default_rng(seed).integers(1, 3, size).astype("float64")
    truth[0] = 2.0
    return truth + 2.0 * noise, truth


def only(cases: tuple[GoldenCase, ...], name: str = "a") -> Any:
    return next(case.outputs["y"] for case in cases if case.name == name)


@pytest.mark.parametrize(
    ("method", "central"),
    [(SPREAD, True), (f"{SPREAD} (float64: it does not run)", True), ("float64", False), ("exact", False)],
)
def test_the_method_says_whether_float32_runs_stand_for_the_truth(method: str, central: bool) -> None:
    assert only(read_cases(*recorded({"a": drawn(100, 1, 1e-6)}, method=method))).central is central


@given(st.floats(1e-3, 1e12), st.booleans(), st.integers(0, 2**32 - 1))
def test_scale_gate_and_whether_it_is_exact_are_computed(said: float, exact: bool, seed: int) -> None:
    values = {"a": drawn(100, 1, 1e-6), "b": drawn(100, 2, 1e-6)}
    sound = only(read_cases(*recorded(values)))
    tensors, cases = recorded(values, scale_max=said, scale_l2=said, exact=exact)
    cases[0]["seed"] = seed
    found = only(read_cases(tensors, cases))
    assert (found.scale, found.e_ref, found.gate, found.exact, found.draw) == (sound.scale, sound.e_ref, "", False, "a")
    assert found.scale == norms(values["a"][1])


@pytest.mark.parametrize(
    ("eager", "truth", "word"),
    [
        ([1.0, np.nan], [1.0, 2.0], "not finite"),
        ([1.0, 2.0], [1.0, np.inf], "not finite"),
        ([0.0, 1e-35], [0.0, 1e-35], "near the denormals"),
        ([1.0, 2.1], [1.0, 2.0], "rounding alone moves it"),
    ],
)
def test_a_case_that_can_prove_nothing_is_shut_whatever_is_said(
    eager: list[float], truth: list[float], word: str
) -> None:
    values = {"a": (np.array(eager), np.array(truth))}
    e_ref = {"e_ref_max": 1.0, "e_ref_l2": 1.0} if "rounding" in word else {}
    assert word in only(read_cases(*recorded(values, **e_ref))).gate


@pytest.mark.parametrize("kind", ["e_ref_max", "e_ref_l2"])
@pytest.mark.parametrize(("share", "shut"), [(0.98, True), (1.0, False), (1.02, False)])
def test_eager_errs_by_e_ref_at_most(kind: str, share: float, shut: bool) -> None:
    values = {"a": drawn(100, 1, 1e-5)}
    e_ref = error(*reversed(values["a"]))[kind == "e_ref_l2"]
    assert bool(only(read_cases(*recorded(values, **{kind: share * e_ref}))).gate) == shut


@pytest.mark.parametrize("kind", ["e_ref_max", "e_ref_l2"])
@pytest.mark.parametrize(
    ("times", "numbers", "shut"),
    [(0.98, MANY, False), (1.02, MANY, True), (1.9, MANY // 2, False), (2.04, MANY // 2, True)],
)
def test_what_rounding_does_not_explain_is_no_e_ref(kind: str, times: float, numbers: int, shut: bool) -> None:
    """Two plain cases of so many numbers together; of half as many it may be twice as large."""
    values = {"a": drawn(numbers // 2, 1, 1e-6), "b": drawn(numbers // 2, 2, 1e-6)}
    own = max(error(*reversed(value))[kind == "e_ref_l2"] for value in values.values())
    found = only(read_cases(*recorded(values, **{kind: times * E_REF_TIMES * own})))
    assert ("rounding does not explain" in found.gate) == shut, found.gate


def test_the_error_of_another_plain_case_explains_it_and_that_of_a_probing_one_does_not() -> None:
    near, far = drawn(100, 1, FLOOR / 4), drawn(100, 2, 1e-5)
    e_ref = {"e_ref_max": 1e-4, "e_ref_l2": 2e-4}
    assert not only(read_cases(*recorded({"a": near, "b": far}, **e_ref))).gate
    assert only(read_cases(*recorded({"a": near, "b:large": far}, **e_ref))).gate
    assert not only(read_cases(*recorded({"a": far, "b": near}, **e_ref)), "b").gate
    assert not only(read_cases(*recorded({"a": near}, e_ref_max=E_REF_TIMES * FLOOR * 0.99))).gate


def test_a_case_that_is_shut_explains_nothing() -> None:
    """Eager's error in it is a thousand times what was recorded."""
    tensors, cases = recorded({"a": drawn(100, 1, FLOOR / 4), "b": drawn(100, 2, FLOOR / 4)}, e_ref_max=1e-4)
    tensors["b/eager/y"] = tensors["b/eager/y"] * 1.001
    found = read_cases(tensors, cases)
    assert "not what was recorded" in only(found, "b").gate and "does not explain" in only(found).gate


def test_whole_numbers_under_the_same_name_do_not_make_few_numbers_many() -> None:
    said = {"e_ref_max": 50e-6, "e_ref_l2": 50e-6}
    tensors, cases = recorded({"a": drawn(16, 1, 1e-6), "b": drawn(100, 2, 1e-6)}, **said)
    assert "does not explain" in only(read_cases(tensors, cases)).gate
    tensors["b/eager/y"] = np.arange(100)
    cases[1]["outputs"]["y"]["dtype"] = "int64"
    assert not only(read_cases(tensors, cases)).gate


def test_cases_that_are_named_after_one_are_related_to_it() -> None:
    names = ("batch=2", "batch=2#2", "batch=9", "batch=2:large", "batch=3:search-41")
    cases = read_cases(*recorded({name: drawn(9, at, 0) for at, name in enumerate(names)}))
    draws = ["batch=2", "batch=2#2", "batch=9", "batch=2", "batch=3"]
    assert [case.outputs["y"].draw for case in cases] == draws
    repeated = [case.outputs["y"].draw for case in to_run(cases)[5:]]
    assert repeated == ["batch=2", "batch=2"], "the first again, and the largest: they have nine rows each"


CONSTANT_KINDS = ("zeros", "one_hot", "padded", "smallest", "largest", "all_ones", "all_zeros")


@pytest.mark.parametrize(
    ("kind", "times"),
    [("", 1), (":large", 1), (":equal_rows", 1), *((f":{kind}", 4) for kind in CONSTANT_KINDS), (":rows_of_x-2", 4)],
)
def test_constant_inputs_allow_more_for_the_order_of_sums(kind: str, times: float) -> None:
    found = only(read_cases(*recorded({f"batch=2{kind}": drawn(100, 1, 1e-5)})), f"batch=2{kind}")
    assert found.unit == pytest.approx((times * found.e_ref[0], times * found.e_ref[1])) and not found.gate


class TestScores:
    """Labels are excused where their scores nearly tie, if they are what chose them."""

    def read(self, labels: Array, said: dict[str, Any] | None, **sampled: Array) -> Any:
        tensors, cases = recorded({"a": (np.eye(4), np.eye(4))})
        tensors |= {"a/eager/z": labels, **{f"a/index/{name}": index for name, index in sampled.items()}}
        cases[0]["outputs"]["z"] = {**cases[0]["outputs"]["y"], "dtype": "int64", "shape": list(labels.shape)}
        cases[0]["outputs"]["z"]["scores"] = said
        return read_cases(tensors, cases)[0].outputs["z"].scores

    def test_they_are_the_argmax(self) -> None:
        assert self.read(np.arange(4), {"output": "y", "axis": 1}) == ("y", 1)
        assert self.read(np.arange(4)[:, None], {"output": "y", "axis": 1}) == ("y", 1)

    @pytest.mark.parametrize(
        ("labels", "said"),
        [
            (np.arange(4), None),
            (np.array([0, 1, 2, 2]), {"output": "y", "axis": 1}),
            (np.arange(4), {"output": "none", "axis": 1}),
            (np.arange(4), {"output": "y", "axis": 2}),
            (np.arange(4), {"output": "y", "axis": -1}),
            (np.arange(4), {"output": "z", "axis": 0}),
        ],
    )
    def test_else_they_excuse_nothing(self, labels: Array, said: dict[str, Any] | None) -> None:
        assert self.read(labels, said) is None


class TestASample:
    """Of a sample the numbers of the whole are said; they are no smaller than what was kept."""

    def read(self, **said: Any) -> Any:
        eager, truth = drawn(100, 1, 1e-6)
        tensors, cases = recorded({"a": (eager, truth)}, **said)
        index = np.arange(0, 100, 3)
        tensors |= {"a/eager/y": eager[index], "a/truth/y": truth[index], "a/index/y": index}
        return only(read_cases(tensors, cases))

    def test_it_is_measured_by_what_is_said_of_the_whole(self) -> None:
        found = self.read(scale_max=8.0, scale_l2=7.0, e_ref_l2=1e-9)
        assert (found.scale, found.e_ref[1], found.gate) == ((8.0, 7.0), 1e-9, "")

    def test_no_largest_value_is_smaller_than_one_that_was_kept(self) -> None:
        assert self.read(scale_max=0.5).scale[0] == 2.0

    def test_no_error_is_smaller_than_one_that_was_kept(self) -> None:
        assert "not what was recorded" in self.read(e_ref_max=1e-7).gate


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [99]},
        {"shape": [100, 1]},
        {"dtype": "float32"},
        {"dtype": "int64"},
    ],
)
def test_goldens_of_another_kind_than_is_said_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not what the manifest says of it"):
        read_cases(*recorded({"a": drawn(100, 1, 0)}, **change))


def test_a_truth_of_another_shape_is_refused() -> None:
    tensors, cases = recorded({"a": drawn(100, 1, 0)})
    with pytest.raises(ValueError, match="not what the manifest says of it"):
        read_cases({**tensors, "a/truth/y": tensors["a/truth/y"][:1]}, cases)


@pytest.mark.parametrize("index", [[-1, 2], [0, 100], [[0, 1]]])
def test_a_sample_lies_within_the_output(index: list[Any]) -> None:
    tensors, cases = recorded({"a": drawn(100, 1, 0)})
    tensors |= {f"a/{kind}/y": np.ones(np.shape(index)) for kind in ("eager", "truth")}
    with pytest.raises(ValueError, match="not what the manifest says of it"):
        read_cases({**tensors, "a/index/y": np.array(index)}, cases)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([np.zeros(2), np.zeros(2), np.zeros(5)], "0.0 in every case"),
        ([np.ones((2, 3), int), np.ones((2, 3), int)], "1 in every case"),
        ([np.arange(4), np.arange(4), np.arange(6)], "the same in all cases of one size"),
        ([np.full(2, 3), np.full(2, 3), np.full(4, 5)], "the same in all cases of one size"),
        ([np.full(2, np.nan), np.full(2, np.nan)], "the same in all cases of one size"),
        ([np.array(True), np.array(True)], "True in every case"),
    ],
)
def test_an_input_that_is_the_same_in_all_cases_is_told(values: list[Array], said: str) -> None:
    told = unvaried("kind", "dataset", values)
    assert told.startswith(f"input 'kind' is {said}: nothing shows") and told.endswith("`values:` that vary")
    assert unvaried("k", "integers(0,1)", values).endswith(" (the upper bound of integers(0,1) is exclusive)")


@pytest.mark.parametrize(
    "values",
    [
        [np.zeros(2), np.zeros(2), np.array([0.0, 1.0])],
        [np.arange(4), np.arange(4)[::-1], np.arange(6)],
        [np.zeros(2), np.zeros(3)],
        [np.zeros(0), np.zeros(0)],
        [np.zeros(2)],
        [],
    ],
    ids=["another value", "another order", "of one case each", "empty", "one case", "none"],
)
def test_of_an_input_that_varies_and_of_one_that_nobody_could_compare_nothing_is_told(values: list[Array]) -> None:
    assert unvaried("kind", "integers(0,1)", values) == ""


def test_an_input_is_read_up_to_the_first_difference() -> None:
    rest = iter([np.zeros(2), np.ones(2), np.zeros(2)])
    assert unvaried("x", "normal", rest) == "" and len(list(rest)) == 1


class TestRowsWithoutAnAnswer:
    """A case in which rows hold the ends of a range: what eager has no answer for is compared by what is finite."""

    def read(self, eager: Array, truth: Array, name: str = "a:rows_of_mask", index: Array | None = None) -> Any:
        counts = counting(eager, truth)
        whole = np.where(np.isfinite(truth), truth, 0)[counts]
        e_ref, scale = error(whole, eager[counts]), norms(whole)
        said = {"scale_max": scale[0], "scale_l2": scale[1], "e_ref_max": e_ref[0], "e_ref_l2": e_ref[1]}
        tensors, cases = recorded({"a": drawn(8, 1, 1e-6), name: (eager, truth)})
        cases[1]["outputs"]["y"] |= said
        if index is not None:
            tensors |= {f"{name}/{kind}/y": tensors[f"{name}/{kind}/y"].ravel()[index] for kind in ("eager", "truth")}
            tensors[f"{name}/index/y"] = index
        return only(read_cases(tensors, cases), name)

    def rows(self) -> tuple[Array, Array]:
        truth = np.random.default_rng(3).standard_normal((4, 5))
        return truth * (1 + 1e-6), truth

    def test_the_finite_rows_are_measured_and_the_others_are_not(self) -> None:
        eager, truth = self.rows()
        eager[1], truth[1] = np.nan, np.nan
        found = self.read(eager, truth)
        assert not found.gate and found.eager.size == found.truth.size == 15 and found.scale == norms(truth[[0, 2, 3]])
        assert found.kept(truth).size == 15 and not found.sampled and found.shape == (4, 5)
        assert "not finite" in self.read(eager, truth, "a:large").gate, "of no other case"
        assert self.read(eager, truth, "a:not_finite_in_x").eager.size == 15

    def test_a_row_of_rounding_alone_is_not_measured(self) -> None:
        eager, truth = self.rows()
        eager[2] *= 1.1
        found = self.read(eager, truth)
        assert not found.gate and found.eager.size == 15
        eager *= 1.1
        assert "rounding alone" in self.read(eager, truth).gate, "where no row has an answer"

    @pytest.mark.parametrize("shape", [(3, 4), (3, 2, 2)])
    def test_a_row_counts_where_no_number_of_it_is_off_by_more_than_a_part_of_the_largest(
        self, shape: tuple[int, ...]
    ) -> None:
        """A number that is not finite says nothing of its row's others."""
        truth = np.array([[0.0, 2.0, 1.0, 0.5]] * 3).reshape(shape)
        for share, counts in ((0.0025, True), (0.0026, False), (1.0, False)):
            eager = truth.copy()
            eager[1].ravel()[0] += 2 * share
            for where in (eager, truth):
                where[2].ravel()[2] = np.nan
            found = counting(eager, truth).reshape(3, 4)
            assert found.tolist() == [[True] * 4, [counts] * 4, [True, True, False, True]]

    def test_numbers_in_no_row_count_where_they_are_finite(self) -> None:
        eager, truth = np.array([1.0, np.nan, 3.0]), np.array([2.0, 2.0, 2.0])
        assert counting(eager, truth).tolist() == [True, False, True]
        assert counting(np.array(1.0), np.array(2.0)).tolist() is True
        assert counting(eager[:, None], np.full((3, 1), np.nan))[:, 0].tolist() == [True, False, True]
        assert counting(np.full((2, 3), np.nan), np.zeros((2, 3))).tolist() == [[True] * 3] * 2

    @pytest.mark.parametrize(
        ("shape", "rows"), [((6,), ""), ((3, 2), (1, 1)), ((3, 1, 2), (1, 1)), ((2, 1, 3), (1, 0))]
    )
    def test_rows_are_named_where_there_are_rows(self, shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
        got = np.zeros(6)
        got[2] = np.nan
        said = Partial(np.zeros(shape), None).unlike(got.reshape(shape))
        named = f", in {rows[0]} of {shape[0]} rows, the first of them row {rows[1]}" if rows else ""
        assert said == f"holds NaN or infinity where eager is finite (1 of 6 numbers{named})"

    @pytest.mark.parametrize("sampled", [False, True])
    def test_engines_have_to_agree_on_what_is_finite(self, sampled: bool) -> None:
        eager, truth = self.rows()
        eager[1, :3] = truth[1, :3] = np.nan
        eager[1, 3] = truth[1, 3] = np.inf
        index = np.arange(20) if sampled else None
        found = self.read(eager, truth, index=index)
        assert found.sampled is sampled and found.partial.unlike(eager) == ""

        def unlike(place: tuple[int, int], value: float) -> str:
            got = eager.copy()
            got[place] = value
            return str(found.partial.unlike(got))

        assert unlike((1, 0), np.inf) == "", "what is NaN may be any of what is not finite"
        named = "" if sampled else ", in 1 of 4 rows, the first of them row 2"
        assert unlike((2, 0), np.nan) == f"holds NaN or infinity where eager is finite (1 of 20 numbers{named})"
        assert unlike((1, 1), 0.5).startswith("holds numbers where eager is NaN or infinite (1 of 20 numbers")
        assert unlike((1, 3), -np.inf).startswith("holds another infinity than eager")

    def test_of_a_sample_the_places_stay_and_what_is_whole_stays_so(self) -> None:
        eager, truth = self.rows()
        whole = self.read(eager, truth)
        assert whole.eager.shape == (4, 5) and whole.index is None
        eager[1] = truth[1] = np.nan
        assert self.read(eager, truth, index=np.array([0, 7, 12])).index.tolist() == [0, 12]

    def test_where_nothing_is_finite_nothing_is_proven(self) -> None:
        eager, truth = (np.full((2, 2), np.nan) for _ in range(2))
        tensors, cases = recorded({"a": drawn(8, 1, 1e-6), "a:rows_of_mask": (eager, truth)})
        found = only(read_cases(tensors, cases), "a:rows_of_mask")
        assert "not finite" in found.gate
