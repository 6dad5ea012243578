"""What the parent makes of the arrays that a child recorded: facts, gates, what is left out, what is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.numbers.golden import SPREAD, ZERO
from exporter.base.numbers.norms import FLOOR, SMALLEST_SCALE, WORST_E_REF, error, norms
from exporter.base.numbers.sample import SAMPLE, places_of
from exporter.base.tensors import Array, load, save
from exporter.process.job import to_json
from exporter.prove.goldens.cases import Case, plan_cases
from exporter.prove.goldens.finish import (
    CaseFacts,
    OutputFacts,
    Recorded,
    Scores,
    batch_note,
    bounded,
    describe,
    find_scores,
    finish,
    goldens_of,
    measured_again,
    note_scores,
)
from exporter.prove.goldens.record import RecordAnswer, RecordedCase
from exporter.prove.goldens.telling import untelling
from exporter.prove.goldens.truth import UNTOLD, Truth, measured
from exporter.spec.model import Spec
from exporter.spec.read import validate

VALUES = np.random.default_rng(3).standard_normal((4, 5))


def truth(value: Array, e_ref: float = 1e-6, **more: Any) -> Truth:
    return Truth(value, e_ref, e_ref / 2, "float64", **more)


def facts(value: Array = VALUES, told: Truth | None = None, unstable: str = "") -> OutputFacts:
    return describe(value.astype("float32"), told or truth(value), unstable)


def sizes(output: OutputFacts) -> list[float]:
    return [output.scale_max, output.scale_l2, output.e_ref_max, output.e_ref_l2]


def test_an_output_is_described_by_its_size_and_its_error() -> None:
    assert to_json(OutputFacts, facts(told=truth(VALUES, allowance=1.5))) == {
        "dtype": "float32",
        "shape": [4, 5],
        "exact": False,
        "scale_max": norms(VALUES)[0],
        "scale_l2": norms(VALUES)[1],
        "e_ref_max": 1e-6,
        "e_ref_l2": 5e-7,
        "allowance": 1.5,
        "method": "float64",
        "gate": "",
        "scores": None,
        "constant": False,
        "sized": False,
        "settled": False,
    }


def test_integers_have_neither_size_nor_gate() -> None:
    labels = np.array([3, 0, 1])
    found = describe(labels, Truth(labels, 0.0, 0.0, "exact"), "")
    assert (found.exact, found.scale_max, found.scale_l2, found.gate) == (True, 0.0, 0.0, "")
    assert describe(labels, Truth(labels, 0.0, 0.0, "exact"), "eager differs").gate == "eager differs"


def test_what_is_near_the_denormals_is_told_by_its_largest_number() -> None:
    small = np.array([1e-38, 2e-38])
    assert describe(small, Truth(small, 0.0, 0.0, "float64"), "").gate == ZERO.format(2e-38)


def test_what_is_not_finite_has_a_gate_and_is_still_json() -> None:
    eager = VALUES.astype("float32")
    eager[0, 0] = np.inf
    found = describe(eager, Truth(VALUES, math.inf, 1e-6, "float64"), "")
    assert found.gate == "eager is not finite"
    assert sizes(found) == [0.0] * 4
    json.dumps(to_json(OutputFacts, found), allow_nan=False)
    for worst in (Truth(VALUES, 1e-6, math.inf, "float64"), Truth(VALUES * np.inf, 1e-6, 1e-6, "float64")):
        told = describe(VALUES.astype("float32"), worst, "")
        assert told.gate and sizes(told) == [0.0] * 4
    assert describe(VALUES.astype("float32"), truth(VALUES * np.nan), "").gate == "float64 is not finite"


def test_of_a_case_whose_rows_may_have_no_answer_the_others_are_described() -> None:
    eager, exact = VALUES.astype("float32"), VALUES.copy()
    eager[0], exact[0] = np.nan, np.nan
    assert describe(eager, truth(exact), "").gate == "eager is not finite"
    found = describe(eager, truth(exact), "", partial=True)
    assert found.gate == "" and (found.scale_max, found.scale_l2) == norms(VALUES[1:])
    nothing = np.full_like(eager, np.nan)
    assert describe(nothing, truth(exact), "", partial=True).gate == "eager is not finite"
    beyond = VALUES.astype("float32")
    assert describe(beyond, truth(exact), "", partial=True).gate == "float64 is not finite"
    labels = np.array([3, 0])
    assert describe(labels, Truth(labels, 0.0, 0.0, "exact"), "", partial=True).gate == ""


def test_a_gate_names_what_is_unstable_first() -> None:
    assert facts(unstable="eager gives other values when run twice: y").gate.startswith("eager gives other values")


@pytest.mark.parametrize(("largest", "shut"), [(SMALLEST_SCALE, False), (SMALLEST_SCALE * 0.99, True), (0.0, True)])
def test_near_the_denormals_nothing_is_proven(largest: float, shut: bool) -> None:
    value = np.array([largest, largest / 2])
    assert ("near the denormals" in facts(value).gate) == shut


def test_an_empty_output_is_not_near_the_denormals() -> None:
    assert facts(np.zeros((0, 3))).gate == ""


@pytest.mark.parametrize("norm", ["max", "l2"])
@pytest.mark.parametrize(("e_ref", "shut"), [(WORST_E_REF / 4, False), (WORST_E_REF / 4 * 1.001, True), (1e-6, False)])
def test_what_amplifies_rounding_too_much_is_not_judged(norm: str, e_ref: float, shut: bool) -> None:
    told = Truth(VALUES, e_ref, 0.0, "float64") if norm == "max" else Truth(VALUES, 0.0, e_ref, "float64")
    assert facts(told=told).gate.startswith("rounding alone moves it") == shut


def test_the_gate_lets_the_largest_error_through_that_a_budget_of_four_makes_a_hundredth() -> None:
    assert WORST_E_REF == 1e-2, "docs/parity.md: 4 · e_ref above a hundredth proves nothing"
    assert 4 * FLOOR < WORST_E_REF


def recorded(kind: str, value: Array, key: str = "truth", method: str = "float64", name: str = "") -> Recorded:
    name = name or (f"batch=4:{kind}" if kind else "batch=4")
    about = replace(facts(value), method=method, exact=key == "eager")
    tensors = {f"{name}/{key}/y": value, f"{name}/eager/y": value if key == "eager" else value.astype("float32")}
    made = CaseFacts(name, {"batch": len(value)}, 0, {"y": about})
    return Recorded(Case(name, {"batch": len(value)}, 0, kind), made, tensors)


def test_a_case_gives_its_inputs_by_their_own_names() -> None:
    tensors = {"a/input/x": VALUES, "a/input/part/input": VALUES + 1, "a/eager/y": VALUES, "ab/input/z": VALUES}
    found = Recorded(Case("a", {}, 0), CaseFacts("a", {}, 0, {}), tensors).inputs()
    assert list(found) == ["x", "part/input"] and found["x"] is VALUES


class TestWhetherRowsDepend:
    def test_a_row_alone_that_gives_the_same_says_nothing(self) -> None:
        assert batch_note([recorded("", VALUES), recorded("one_row", VALUES[:1] * (1 + 1e-10))]) == []

    @pytest.mark.parametrize("off", [1 + 1e-8, 1.5])
    def test_a_row_alone_that_gives_another_result_is_a_note(self, off: float) -> None:
        (note,) = batch_note([recorded("", VALUES), recorded("one_row", VALUES[:1] * off)])
        assert note == "in y a row's result depends on the other rows of its batch"

    def test_labels_are_compared_as_eager_gave_them(self) -> None:
        labels = np.array([[3], [4]])
        cases = [recorded("", labels, "eager", "exact"), recorded("one_row", labels[1:], "eager", "exact")]
        assert len(batch_note(cases)) == 1
        assert batch_note([cases[0], recorded("one_row", labels[:1], "eager", "exact")]) == []

    def test_what_has_no_rows_is_not_compared(self) -> None:
        assert batch_note([recorded("", VALUES), recorded("one_row", VALUES[:2] * 2)]) == []
        assert batch_note([recorded("", VALUES), recorded("one_row", VALUES[:1, :3] * 2)]) == []

    def test_it_takes_a_row_alone_and_a_float64_truth(self) -> None:
        assert batch_note([recorded("", VALUES), recorded("reversed", VALUES[:1] * 2)]) == []
        spread = recorded("", VALUES, method=f"{SPREAD} (float32 in matmul)")
        assert batch_note([spread, recorded("one_row", VALUES[:1] * 2)]) == []
        lifted = recorded("", VALUES, method="float64 with casts lifted")
        assert len(batch_note([lifted, recorded("one_row", VALUES[:1] * 2)])) == 1


def test_the_scores_of_a_label_are_named_in_every_case() -> None:
    scores = VALUES.astype("float32")
    cases = []
    for name in ("batch=4", "batch=4#2"):
        tensors = {f"{name}/eager/scores": scores, f"{name}/eager/label": scores.argmax(1)}
        about = {"scores": facts(), "label": replace(facts(), exact=True)}
        cases.append(Recorded(Case(name, {}, 0), CaseFacts(name, {}, 0, about), tensors))
    note_scores(cases)
    assert [case.facts.outputs["label"].scores for case in cases] == [Scores("scores", 1)] * 2
    odd = {"scores": np.where(scores > 0, np.nan, scores), "label": np.zeros(len(scores), "int64")}
    given = [{"scores": scores, "label": scores.argmax(1)}, odd]
    assert find_scores(given) == {"label": ("scores", 1)}, "where scores have no answer their argmax tells nothing"
    assert find_scores([odd]) == {}
    assert cases[0].facts.outputs["scores"].scores is None


def test_only_probing_cases_that_tell_nothing_are_left_out() -> None:
    other = np.random.default_rng(4).standard_normal((4, 5))
    cases = [
        recorded("", VALUES),
        recorded("", np.full((4, 5), 2.0), name="batch=4#2"),
        recorded("zeros", np.full((4, 5), 2.0)),
        recorded("tiny", other),
    ]
    reasons = untelling(goldens_of(cases), 4.0)
    assert list(reasons) == ["batch=4:zeros"] and "would have passed" in reasons["batch=4:zeros"]
    assert untelling(goldens_of(cases[:1]), 4.0) == {}


@pytest.mark.parametrize(("times", "told"), [(20, True), (15, False)])
def test_a_probing_case_that_amplifies_rounding_is_left_out(times: float, told: bool) -> None:
    probing = recorded("zeros", np.random.default_rng(4).standard_normal((4, 5)))
    plain = [recorded("", VALUES), recorded("", VALUES[::-1] * 2, name="batch=4#2")]
    for case in (*plain, probing):
        case.facts = case.facts.with_output("y", replace(case.facts.outputs["y"], e_ref_max=FLOOR, e_ref_l2=FLOOR))
    probing.facts = probing.facts.with_output("y", replace(probing.facts.outputs["y"], e_ref_max=FLOOR * times))
    reasons = untelling(goldens_of([*plain, probing]), 4.0)
    assert ["amplifies rounding 20 times" in reason for reason in reasons.values()] == [True] * told


class TestWhatIsKept:
    def large(self, size: int = SAMPLE * 2) -> dict[str, Array]:
        generator = np.random.default_rng(1)
        wide = generator.standard_normal(size)
        return {
            "a/input/x": generator.standard_normal(SAMPLE * 4),
            "a/eager/y": wide.astype("float32"),
            "a/truth/y": wide,
            "a/eager/small": wide[:SAMPLE].astype("float32"),
            "a/eager/label": np.arange(size),
        }

    def test_what_fits_is_kept_whole(self) -> None:
        tensors = self.large()
        assert bounded(tensors, sum(value.nbytes for value in tensors.values()) / 1e6, 0) == tensors

    def test_of_what_is_too_large_a_sample_is_kept_by_which_both_can_be_compared(self) -> None:
        tensors = self.large()
        worst = np.abs(tensors["a/eager/y"] - tensors["a/truth/y"]).argmax()
        found = bounded(tensors, 0.001, 7)
        assert worst in found["a/index/y"], "its error is what the recorded one is held against"
        assert found["a/input/x"] is tensors["a/input/x"] and found["a/eager/small"] is tensors["a/eager/small"]
        for name in ("y", "label"):
            index = found[f"a/index/{name}"]
            assert index.dtype == "int64" and (np.diff(index) > 0).all() and SAMPLE == 65_536
            assert index.size - SAMPLE == (name == "y" and worst not in places_of(SAMPLE * 2, 7))
            assert np.array_equal(found[f"a/eager/{name}"], tensors[f"a/eager/{name}"][index])
        assert np.array_equal(found["a/truth/y"], tensors["a/truth/y"][found["a/index/y"]])
        assert "a/truth/label" not in found and "a/index/small" not in found
        again = bounded(tensors, 0.001, 7)
        assert all(np.array_equal(again[key], value) for key, value in found.items()), "the sample is seeded"
        assert not np.array_equal(bounded(tensors, 0.001, 8)["a/index/y"], found["a/index/y"])

    def test_of_rows_without_an_answer_none_is_kept(self) -> None:
        """The worst error among the others is: one beside NaN is no error."""
        start, tensors = "a:rows_of_x", self.large()
        made = {f"{start}/{key.partition('/')[2]}": value.copy() for key, value in tensors.items()}
        eager, exact = made[f"{start}/eager/y"], made[f"{start}/truth/y"]
        eager[: SAMPLE // 2], exact[: SAMPLE // 2] = np.nan, np.nan
        answered = np.arange(SAMPLE // 2, SAMPLE * 2)
        others = np.union1d(places_of(SAMPLE * 2, 7, answered), places_of(SAMPLE * 2, 7))
        beside = int(np.setdiff1d(answered, others)[0])
        eager[beside] += 0.25
        found = bounded(made, 0.001, 7)
        index = found[f"{start}/index/y"]
        assert index.min() >= SAMPLE // 2 and beside in index and index.size == SAMPLE + 1
        assert np.isfinite(found[f"{start}/eager/y"]).all()
        assert found[f"{start}/index/label"].min() < SAMPLE // 2, "of whole numbers each is one"
        whole = bounded({key.replace(start, "a"): value for key, value in made.items()}, 0.001, 7)
        assert whole["a/index/y"].min() < SAMPLE // 2, "of a case that is to have answers all count"
        assert beside in whole["a/index/y"], "and what is no number is no error"
        by_row = {key: value.reshape(-1, 4) for key, value in made.items() if key.endswith("/y")}
        by_row[f"{start}/eager/y"][beside // 4, beside % 4] -= 0.2499  # which alone would be rounding alone
        by_row[f"{start}/eager/y"][-1] += 1e9
        assert beside in bounded(by_row, 0.001, 7)[f"{start}/index/y"], "nor is that of a row of rounding alone"

    def test_the_largest_go_first_and_no_more_than_must(self) -> None:
        tensors = self.large()
        size = sum(value.nbytes for value in tensors.values())
        assert {key for key in bounded(tensors, (size - 1) / 1e6, 0) if "/index/" in key} == {"a/index/label"}
        enough = (tensors["a/eager/label"].nbytes - SAMPLE * 8) / 1e6
        assert "a/index/y" not in bounded(tensors, size / 1e6 - enough, 0)
        assert "a/index/y" in bounded(tensors, size / 1e6 - enough - 1e-6, 0)

    def test_a_sample_of_the_truth_counts_too(self) -> None:
        tensors = {key: value for key, value in self.large().items() if not key.endswith("label")}
        tensors["b/eager/y"], tensors["b/truth/y"] = tensors["a/eager/y"][:-1], tensors["a/truth/y"][:-1]
        size = sum(value.nbytes for value in tensors.values())
        saved = (tensors["a/eager/y"].nbytes + tensors["a/truth/y"].nbytes - SAMPLE * 12) / 1e6
        assert "b/index/y" not in bounded(tensors, size / 1e6 - saved + 5e-7, 0)
        assert "b/index/y" in bounded(tensors, size / 1e6 - saved - 5e-7, 0)


# ---- all of it, from a child's folder ---------------------------------------------------------------------------


def spec(**more: Any) -> Spec:
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3]}},
        "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
    }
    return validate({**content, **more}, "test")


class Child:
    """What a child leaves for the planned cases: a linear layer's outputs, its truth and two more float32 runs."""

    def __init__(self, folder: Path, planned: Spec) -> None:
        self.folder = folder
        weights = np.random.default_rng(0).standard_normal((3, 5))
        self.cases: list[RecordedCase] = []
        self.told: dict[str, Any] = {"unstable": {}, "tied": {}, "left_out": {}, "whole": True}
        self.arrays: list[dict[str, Array]] = []
        for case in plan_cases(planned):
            rows = np.random.default_rng(case.seed).standard_normal((case.dims["batch"], 3)).astype("float32")
            rows = rows * 0 if case.kind == "zeros" else rows
            exact = rows.astype("float64") @ weights
            eager = exact.astype("float32")
            self.arrays.append(
                {
                    f"{case.name}/input/x": rows,
                    f"{case.name}/eager/y": eager,
                    f"{case.name}/truth/y": exact,
                    f"{case.name}/run1/y": np.nextafter(eager, np.float32(9)),
                    f"{case.name}/run2/y": eager,
                    f"{case.name}/eager/label": eager.argmax(1),
                }
            )
            methods = {"y": "float64", "label": "exact"}
            self.cases.append(RecordedCase(case.name, dict(case.dims), case.seed, methods))

    def put(self, value: Callable[[int, str], float]) -> None:
        """Let output `y` be one number throughout each case, by the rows and the name of the case."""
        for left, arrays in zip(self.cases, self.arrays, strict=True):
            for key in ("eager", "truth", "run1", "run2"):
                held = arrays[f"{left.name}/{key}/y"]
                held[:] = value(left.dims["batch"], left.name)

    def finish(
        self, planned: Spec, constants: Sequence[str] = (), sized: Sequence[str] = ()
    ) -> tuple[tuple[CaseFacts, ...], Mapping[str, str], Sequence[str]]:
        for number, arrays in enumerate(self.arrays):
            save(self.folder / f"{number}.safetensors", arrays)
        answer = RecordAnswer(cases=tuple(self.cases), notes=(), found=(), **self.told)
        self.kept = finish(planned, answer, self.folder, self.folder / "golden.safetensors", constants, sized)
        return self.kept.cases, self.kept.left_out, self.kept.notes


@pytest.fixture
def child(tmp_path: Path) -> Child:
    return Child(tmp_path, spec())


def test_what_is_said_is_measured_from_the_arrays(child: Child) -> None:
    child.arrays[0]["batch=4/run1/z"] = child.arrays[0]["batch=4/eager/y"] * 2  # another output's
    cases, left_out, notes = child.finish(spec())
    assert list(left_out) == ["batch=4:zeros"] == [case.name for case in child.kept.untelling] and notes == []
    planned = [case.name for case in plan_cases(spec())]
    assert [case.name for case in cases] == [name for name in planned if name != "batch=4:zeros"]
    first, arrays = cases[0], child.arrays[0]
    eager, run, exact = (arrays[f"batch=4/{key}/y"] for key in ("eager", "run1", "truth"))
    assert first.outputs["y"].e_ref_max == max(error(exact, eager)[0], error(exact, run)[0])
    assert first.outputs["y"].allowance == measured([eager, run, eager], exact, "").allowance
    assert first.outputs["label"].scores == Scores("y", 1)
    assert (first.outputs["label"].e_ref_max, first.outputs["label"].e_ref_l2) == (0.0, 0.0)
    assert (first.seed, first.dims) == (0, {"batch": 4})


def test_the_goldens_hold_the_cases_that_are_said_and_no_runs(child: Child) -> None:
    cases, _, _ = child.finish(spec())
    stored = load(child.folder / "golden.safetensors")
    kept = (*(case.name for case in cases), "batch=4:zeros")  # what tells nothing shows that
    expected = {f"{case}/{key}" for case in kept for key in ("input/x", "eager/y", "truth/y", "eager/label")}
    assert set(stored) == expected


def add_found(child: Child, name: str, factor: float) -> None:
    """One more case, as a search finds it: another seed's values, times so much."""
    other = Child(child.folder, spec(seed=77))
    child.cases.append(replace(other.cases[0], name=name))
    renamed = {key.replace("batch=4/", f"{name}/"): value for key, value in other.arrays[0].items()}
    child.arrays.append({key: (value * factor).astype(value.dtype) for key, value in renamed.items()})


def test_a_case_that_a_search_found_is_one_more(child: Child) -> None:
    add_found(child, "batch=4:reaches net.py:7", 1.0)
    cases, _, _ = child.finish(spec())
    assert (cases[-1].name, cases[-1].seed) == ("batch=4:reaches net.py:7", 77)


def test_a_found_case_that_tells_nothing_is_left_out(child: Child) -> None:
    add_found(child, "batch=4:found", 0.0)
    _, left_out, _ = child.finish(spec())
    assert "near the denormals" in left_out["batch=4:found"]


def test_why_the_child_left_a_case_out_is_kept(child: Child) -> None:
    child.told["left_out"] = {"batch=4:tiny": "eager refused it"}
    _, left_out, _ = child.finish(spec())
    assert left_out["batch=4:tiny"] == "eager refused it" and "batch=4:zeros" in left_out


def test_unstable_cases_have_a_gate(child: Child) -> None:
    child.told["unstable"] = {"batch=4": "eager gives other values when run twice: y"}
    cases, _, _ = child.finish(spec())
    assert all(about.gate for about in cases[0].outputs.values())
    assert not any(about.gate for about in cases[1].outputs.values())


def test_rows_that_depend_are_told_where_all_cases_were_recorded(child: Child) -> None:
    at = [case.kind for case in plan_cases(spec())].index("one_row")
    child.arrays[at]["batch=4:one_row/truth/y"] = child.arrays[0]["batch=4/truth/y"][:1] * 1.5
    child.arrays[at]["batch=4:one_row/eager/y"] = child.arrays[at]["batch=4:one_row/truth/y"].astype("float32")
    assert len(child.finish(spec())[2]) == 1
    child.told["whole"] = False
    assert child.finish(spec())[2] == []


def test_without_float64_the_spread_of_the_runs_is_measured(child: Child) -> None:
    spread = {"y": f"{SPREAD} (float64: float32 in matmul)", "label": "exact"}
    child.cases = [replace(case, methods=spread) for case in child.cases]
    cases, _, _ = child.finish(spec())
    arrays = child.arrays[0]
    runs = [arrays[f"batch=4/{key}/y"] for key in ("eager", "run1", "run2")]
    expected = measured(runs, None, SPREAD)
    assert cases[0].outputs["y"].e_ref_max == expected.e_ref_max > 0
    assert cases[0].outputs["y"].method.startswith(SPREAD)


def of_arrays(folder: Path, name: str, **arrays: Array) -> Recorded:
    """A case of one output from what its child left: eager, the truth and further runs."""
    save(folder / "0.safetensors", {f"{name}/{kind}/y": value for kind, value in arrays.items()})
    left = RecordedCase(name, {"batch": 4}, 7, {"y": "float64"})
    return measured_again(Case(name, {"batch": 4}, 7), left, "", folder / "0.safetensors")


@pytest.mark.parametrize("name", ["batch=4", "batch=4:rows_of_x"])
@pytest.mark.parametrize("worst", ["eager", "run0", "run1"])
def test_the_error_of_a_case_is_that_of_the_worst_run(worst: str, name: str, tmp_path: Path) -> None:
    """Also of one in which rows may have no answer, by the others."""
    arrays = {run: np.float32(1 + (1e-3 if run == worst else 1e-5)) * VALUES for run in ("eager", "run0", "run1")}
    holed = {"truth": VALUES.copy(), **{run: value.astype("float32") for run, value in arrays.items()}}
    if ":" in name:
        for value in holed.values():
            value[0] = np.nan
    again = of_arrays(tmp_path, name, **holed)
    told = again.facts.outputs["y"]
    assert told.e_ref_max == pytest.approx(1e-3, rel=0.02) and told.gate == "", told
    assert set(again.tensors) == {f"{name}/eager/y", f"{name}/truth/y"}


@pytest.mark.parametrize(("name", "gate"), [("batch=4", "float64 is not finite"), ("batch=4:rows_of_x", "")])
def test_only_where_rows_may_have_no_answer_float32_stands_for_a_truth_that_is_not_finite(
    name: str, gate: str, tmp_path: Path
) -> None:
    eager, exact = VALUES.astype("float32"), VALUES.copy()
    exact[0] = np.nan
    again = of_arrays(tmp_path, name, eager=eager, truth=exact, run0=eager)
    assert again.facts.outputs["y"].gate == gate


def test_where_rounding_changes_the_shape_there_is_no_truth(child: Child) -> None:
    child.cases = [replace(case, methods={"y": UNTOLD, "label": "exact"}) for case in child.cases]
    child.told["unstable"] = {case.name: "rounding alone changes the shape of y" for case in plan_cases(spec())}
    cases, _, _ = child.finish(spec())
    found = cases[0].outputs["y"]
    assert (found.gate, found.method) == ("rounding alone changes the shape of y", UNTOLD)
    assert (found.e_ref_max, found.scale_max) == (0.0, 0.0)


class TestWhatHangsOnNoValue:
    """It is said of an output in every case where the numbers bear it out; then zero is an answer."""

    def marks(self, cases: Sequence[CaseFacts]) -> dict[str, tuple[bool, bool, bool, str]]:
        outputs = {case.name: case.outputs["y"] for case in cases}
        return {name: (about.constant, about.sized, about.settled, about.gate) for name, about in outputs.items()}

    def test_of_others_nothing_is_said(self, child: Child) -> None:
        cases, _, _ = child.finish(spec(), sized=["label"], constants=["label"])
        assert {marks[:3] for marks in self.marks(cases).values()} == {(False, False, False)}
        assert all(not about.outputs["y"].sized for about in cases)

    def test_zero_of_others_is_no_answer(self, child: Child) -> None:
        child.put(lambda rows, _name: 0.0 if rows == 1 else rows)
        assert self.marks(child.finish(spec())[0])["batch=1"] == (False, False, False, ZERO.format(0.0))

    @pytest.mark.parametrize("other", [3.0, 7.0])
    def test_what_is_not_stable_stays_so(self, other: float, child: Child) -> None:
        """Whether sizes decide it or not."""
        said = "eager gives other values when run twice: y"
        child.told["unstable"] = {"batch=1": said}
        child.put(lambda rows, name: 0.0 if rows == 1 else other if "#" in name else 3.0)
        marks = self.marks(child.finish(spec(), sized=["y"])[0])
        assert marks["batch=1"] == (False, other == 3.0, False, said)

    def test_a_constant(self, child: Child) -> None:
        child.put(lambda _rows, _name: 2.0)
        cases, _, _ = child.finish(spec(), constants=["y"])
        assert {case.outputs["y"].constant for case in cases} == {True}
        assert {case.outputs["label"].constant for case in cases} == {False}

    @pytest.mark.parametrize("first", [0.0, 3.0])
    def test_what_sizes_decide(self, first: float, child: Child) -> None:
        """Of one row it is zero, and that is an answer."""
        child.put(lambda rows, _name: first if rows == 1 else rows)
        cases, _, _ = child.finish(spec(), sized=["y"])
        marks = self.marks(cases)
        assert {mark[:3] for mark in marks.values()} == {(False, True, False)}
        assert marks["batch=1"][3] == "" == marks["batch=6"][3]

    def test_what_sizes_are_said_to_decide_and_values_do(self, child: Child) -> None:
        """Then zero is no answer."""
        child.put(lambda rows, name: 0.0 if rows == 1 else 7.0 if "#" in name else rows)
        cases, _, _ = child.finish(spec(), sized=["y"])
        marks = self.marks(cases)
        assert {mark[1] for mark in marks.values()} == {False}
        assert marks["batch=1"][3] == ZERO.format(0.0) and marks["batch=6"][3] == ""

    def test_what_values_decide_at_other_sizes(self, child: Child) -> None:
        """A softmax over one column is 1 whatever comes, and its logarithm is 0."""
        alone = [at for at, case in enumerate(child.cases) if case.dims["batch"] == 1]
        for at in alone:
            child.cases[at] = replace(child.cases[at], settled=("y",))
            for key in ("eager", "truth", "run1", "run2"):
                child.arrays[at][f"{child.cases[at].name}/{key}/y"][:] = 0
        marks = self.marks(child.finish(spec())[0])
        names = {child.cases[at].name for at in alone}
        assert {mark for name, mark in marks.items() if name in names} == {(False, False, True, "")}
        assert {mark for name, mark in marks.items() if name not in names} == {(False, False, False, "")}
        child.arrays[alone[0]]["batch=1/eager/y"][0, 0] = 1e-30
        assert self.marks(child.finish(spec())[0])["batch=1"] == (False, False, False, ZERO.format(0.0))

    def test_one_number_beside_zeros_is_none_either(self, child: Child) -> None:
        child.put(lambda rows, _name: 0.0 if rows == 1 else rows)
        for case, arrays in zip(child.cases, child.arrays, strict=True):
            if case.dims["batch"] == 1:
                arrays[f"{case.name}/eager/y"][0, 0] = 2
        assert self.marks(child.finish(spec(), sized=["y"])[0])["batch=1"] == (False, True, False, ZERO.format(0.0))

    @pytest.mark.parametrize("settled", [True, False])
    def test_zero_in_one_of_both_is_none(self, settled: bool, child: Child) -> None:
        alone = [at for at, case in enumerate(child.cases) if case.dims["batch"] == 1]
        for at in alone:
            child.cases[at] = replace(child.cases[at], settled=("y",) if settled else ())
            for key in ("eager", "truth", "run1", "run2"):
                child.arrays[at][f"{child.cases[at].name}/{key}/y"][:] = 0 if key == "truth" else 2
        marks = self.marks(child.finish(spec())[0])["batch=1"]
        assert marks == (False, False, settled, ZERO.format(0.0))


def test_large_goldens_are_bounded_by_the_spec(tmp_path: Path) -> None:
    child = Child(tmp_path, spec())
    for arrays in child.arrays:
        arrays.update({key: np.resize(value, (SAMPLE + 1,)) for key, value in arrays.items() if "label" not in key})
    few = spec(golden_mb=1)
    child.finish(few)
    stored = load(tmp_path / "golden.safetensors")
    assert "batch=4/index/y" in stored and stored["batch=4/eager/y"].size in (SAMPLE, SAMPLE + 1)


@given(st.floats(1e-12, 1e-3), st.floats(1e-12, 1e-3))
def test_the_gate_is_shut_by_the_worse_of_both_norms(first: float, second: float) -> None:
    shut = 4 * max(first, second, FLOOR) > WORST_E_REF
    assert bool(facts(told=Truth(VALUES, first, second, "float64")).gate) == shut


def test_only_what_another_choice_among_equals_would_fail_is_closed(child: Child) -> None:
    """A choice that moves one output by its rounding and the other altogether, in a promised and a probing case."""
    for at, name in enumerate(case.name for case in child.cases):
        if name in ("batch=1", "batch=4:large"):
            arrays = child.arrays[at]
            arrays[f"{name}/otherwise0/y"] = np.nextafter(arrays[f"{name}/eager/y"], np.float32(9))
            arrays[f"{name}/otherwise0/label"] = arrays[f"{name}/eager/label"]
            arrays[f"{name}/otherwise1/y"] = arrays[f"{name}/eager/y"]
            arrays[f"{name}/otherwise1/label"] = (arrays[f"{name}/eager/label"] + 1) % 5
            child.told["tied"][name] = "argsort, topk"
    cases, left_out, _ = child.finish(spec())
    reason = "it depends on which of equal elements argsort, topk takes, and Paddle promises no order"
    assert left_out["batch=4:large"] == reason
    gates = {(case.name, output): about.gate for case in cases for output, about in case.outputs.items()}
    assert {key: gate for key, gate in gates.items() if gate} == {("batch=1", "label"): reason}
    assert not [key for key in load(child.folder / "golden.safetensors") if "otherwise" in key]
