"""The judge of one side of the model: what it lets pass, and what it says of what it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.steps.base import VALUE
from exporter.steps.compare import Measure
from exporter.steps.judge import Compared, Finding, SideRequest, _amount, _constant, judge, judged
from exporter.steps.material import Material
from exporter.steps.replay import Replayed
from exporter.steps.run import load_states
from tests.steps.recorded import recorded

FUNCTIONS = "tests.steps.users"
RANDOM = np.random.default_rng(0)
PICTURES = {f"{at}.png": RANDOM.integers(0, 256, (6, 7, 3)).astype("uint8") for at in range(2)}
FLOAT: Any = {"cast": {"dtype": "float32"}}
SCALED: Any = {"normalize": {"scale": "1/255"}}
HALVES: Any = {"normalize": {"mean": [0.5], "std": [0.5]}}
SUM = 2 * 6 * 7 * 3


def request(training: list[Any], deployment: list[Any], side: str = "before", *names: str) -> SideRequest:
    chains = tuple(training), tuple(deployment)
    return SideRequest(side, *chains, Path("none"), None, tolerance=0.0, names=(VALUE, *names), into=None)


def look(training: list[Any], deployment: list[Any], material: Material | None = None, side: str = "before") -> Finding:
    material = material or recorded(side, training, PICTURES)
    return judged(request(training, deployment, side), material, material)


def test_equal_chains_match_and_hand_on_what_the_last_step_gives() -> None:
    material = recorded("before", [SCALED, "layout"], PICTURES)
    finding = look([SCALED, "layout"], [SCALED, "layout"], material)
    assert (finding.outcome, finding.reason, finding.elements) == ("match", "", SUM)
    ends = [material.states("before", "training", number, 2)[-1][VALUE] for number in (0, 1)]
    assert [np.array_equal(state[VALUE], end) for state, end in zip(finding.ends, ends, strict=True)] == [True, True]


def test_numbers_are_counted_behind_the_last_step() -> None:
    chain = [SCALED, {"crop": {"height": 4, "width": 5}}]
    assert look(chain, chain).elements == 2 * 4 * 5 * 3


def test_every_name_that_a_state_holds_is_counted() -> None:
    chain = [f"{FUNCTIONS}:with_size"]
    material = recorded("before", chain, PICTURES)
    for number in material.numbers:
        material.keep("before", "deployment", 1, number, material.states("before", "training", number, 1)[1])
    finding = judged(request(chain, [*chain, "layout"][:1], "before", "size", "no_such_name"), material, material)
    # The function is all there is, and no change of it is known, so that leaving it out has to show.
    assert (finding.outcome, finding.elements) == ("match", SUM + 2 * 3)


def test_the_child_writes_the_ends_of_a_match_alone(tmp_path: Path) -> None:
    material = recorded("before", [SCALED], PICTURES)
    material.write(tmp_path / "samples.safetensors")
    places: dict[str, Any] = {"material": tmp_path / "samples.safetensors", "into": tmp_path / "ends"}
    answer = judge(replace(request([SCALED], ["layout"]), **places))
    assert (answer.outcome, answer.elements, answer.notes) == ("mismatch", 0, ())
    assert "deployment's step 1 (layout), where training has step 1 (normalize)" in answer.reason
    assert not (tmp_path / "ends").exists()
    answer = judge(replace(request([SCALED], [SCALED]), **places))
    assert (answer.outcome, answer.reason, answer.elements) == ("match", "", SUM)
    assert list(answer.notes) == look([SCALED], [SCALED]).notes
    assert [state[VALUE].shape for state in load_states(tmp_path / "ends")] == [(6, 7, 3)] * 2
    assert judge(replace(request([SCALED], [SCALED]), material=places["material"])).outcome == "match"


def test_what_functions_give_now_is_read_from_the_fresh_file(tmp_path: Path) -> None:
    chain = [f"{FUNCTIONS}:squared"]
    material = recorded("before", chain, PICTURES)
    material.write(tmp_path / "old")
    for number in material.numbers:
        material.keep("before", "deployment", 1, number, material.states("before", "training", number, 1)[1])
    material.write(tmp_path / "new")
    of = replace(request(chain, chain), material=tmp_path / "old")
    assert judge(replace(of, fresh=tmp_path / "new")).outcome == "match"
    answer = judge(of)
    assert answer.outcome == "mismatch"
    assert f"it cannot run on sample 1: nothing was recorded of {FUNCTIONS}:squared" in answer.reason


class TestWhatWasNotRecorded:
    def test_a_training_without_steps(self) -> None:
        assert look([], ["layout"]) == Finding("missing", "the chain of training has no step; release it anew")

    @pytest.mark.parametrize("number", [0, 1])
    def test_the_outputs_of_a_sample(self, number: int) -> None:
        material = recorded("after", ["argmax"], {"a": np.float32([1, 2]), "b": np.float32([2, 1])})
        del material.tensors[f"outputs/{number}/scores"]
        reason = "no outputs were recorded for the samples; release it anew"
        assert look(["argmax"], ["argmax"], material, "after") == Finding("missing", reason)

    @pytest.mark.parametrize("name", ["", "other"])
    def test_the_last_value_of_a_sample(self, name: str) -> None:
        chain = ["layout", FLOAT, SCALED]
        material = recorded("before", chain, PICTURES)
        value = material.tensors.pop(f"before/training/3/1/{VALUE}")
        if name:
            material.tensors[f"before/training/3/1/{name}"] = value
        reason = "what training made of the samples was not recorded; release it anew"
        assert look(chain, chain, material) == Finding("missing", reason)


class TestRecordedValuesOfTraining:
    CHAIN = (SCALED, {"crop": {"height": 4, "width": 5}}, "layout")

    def changed(self, step: int, number: int, change: Any) -> Finding:
        chain = [*self.CHAIN]
        material = recorded("before", chain, PICTURES)
        name = f"before/training/{step}/{number}/{VALUE}"
        material.tensors[name] = change(material.tensors[name])
        return look(chain, chain, material)

    @pytest.mark.parametrize(("step", "name"), [(1, "normalize"), (2, "crop"), (3, "layout")])
    def test_a_step_gives_what_was_recorded(self, step: int, name: str) -> None:
        finding = self.changed(step, 1, lambda value: value + 1)
        assert finding.outcome == "mismatch" and finding.reason.startswith(
            f"the recorded values of sample 2 are not what training's step {step} ({name}) gives: by up to 1 in"
        )
        assert finding.reason.endswith("they were changed after the release, or this machine computes otherwise")

    def test_a_step_that_cannot_take_what_was_recorded(self) -> None:
        finding = self.changed(2, 0, lambda value: value[0, 0])
        assert "training's step 2 (crop) gives: shape [4, 5, 3], not [3]" in finding.reason
        material = recorded("before", ["layout"], PICTURES)
        material.tensors["raw/1"] = np.zeros(3)
        assert "(layout) gives: it takes an array of" in look(["layout"], ["layout"], material).reason

    def test_what_is_not_recorded_between_is_no_fault(self) -> None:
        chain = [*self.CHAIN]
        material = recorded("before", chain, PICTURES)
        del material.tensors[f"before/training/2/1/{VALUE}"]
        assert look(chain, chain, material).outcome == "match"

    def test_a_function_is_not_called(self) -> None:
        """It is no function that could be imported."""
        material = recorded("before", [FLOAT], PICTURES)
        assert look(["no.such.module:function"], [FLOAT], material).outcome == "match"


def reason(training: list[Any], deployment: list[Any]) -> str:
    finding = look(training, deployment)
    assert (finding.outcome, finding.elements, list(finding.ends)) == ("mismatch", 0, [])
    return finding.reason


class TestTheFirstStepThatDiffers:
    def test_both_chains_have_one(self) -> None:
        said = reason([FLOAT, SCALED, "layout"], [FLOAT, {"normalize": {"scale": 2 / 255}}, "layout"])
        assert said.startswith(
            "the first step that differs is deployment's step 2 (normalize), where training has step 2 (normalize): "
            "by up to 1 in "
        )
        assert "(sample 1); likely cause: " in said

    def test_deployment_has_one_more(self) -> None:
        said = reason([FLOAT], [FLOAT, SCALED])
        assert "deployment's step 2 (normalize), which training has not: by up to 25" in said

    def test_training_has_one_more(self) -> None:
        said = reason([FLOAT, SCALED], [FLOAT])
        assert "is training's step 2 (normalize), which deployment has not: by up to 25" in said

    def test_in_a_training_of_one_step_the_cause_tells_it(self) -> None:
        """Its values cannot: the second step of deployment is to blame, and training has none of the first."""
        both = {"normalize": {"scale": "1/255", "mean": [0.5], "std": [0.5]}}
        said = reason([both], [SCALED, {"normalize": {"mean": [0.4], "std": [0.5]}}])
        assert "deployment's step 2 (normalize), where training has step 1 (normalize): by up to 0.2 in" in said
        said = reason([FLOAT, both], [FLOAT, SCALED, {"normalize": {"mean": [0.4], "std": [0.5]}}])
        assert "deployment's step 3 (normalize), where training has step 2 (normalize)" in said

    def test_where_training_has_as_many_steps_its_values_tell_it(self) -> None:
        said = reason([SCALED, "layout"], ["layout", {"normalize": {"axis": "first"}}])
        assert "deployment's step 1 (layout), where training has step 1 (normalize)" in said
        said = reason([FLOAT, SCALED, "layout"], [FLOAT, "layout", {"normalize": {"axis": "first"}}])
        assert "deployment's step 2 (layout), where training has step 2 (normalize)" in said

    def test_without_a_cause_a_training_of_fewer_steps_cannot_tell_it(self) -> None:
        sums = [f"{FUNCTIONS}:squared"]
        said = reason(sums, [FLOAT, SCALED])
        assert said.startswith("the chains differ: by up to 6.502e+04 in 99.2% of 126")
        assert "(sample 1); training is cut into fewer steps, so which of deployment's differs first cannot be" in said
        assert said.endswith("none of the changes that were tried makes the chains agree")
        said = reason(sums, [SCALED])
        assert said.startswith("the first step that differs is deployment's step 1 (normalize), where training has")
        said = reason([FLOAT, *sums], [FLOAT, SCALED, "layout"])
        assert said.startswith("the first step that differs is deployment's step 2 (normalize), where training has")

    def test_a_cause_in_part_leaves_the_step_where_it_was_found(self) -> None:
        """Training is cut into fewer steps, and its first one is reached by another scale; nothing gives the second."""
        training = [{"normalize": {"scale": "1/255", "mean": [0.5], "std": [0.5]}}, f"{FUNCTIONS}:squared"]
        said = reason(training, ["normalize", HALVES, "sigmoid"])
        assert said.startswith(
            "the first step that differs is deployment's step 1 (normalize), where training has step 1"
        )
        assert "; likely cause, in part: scale (with scale=0.00392157 instead of 1 in step 1" in said

    def test_a_step_that_cannot_run(self) -> None:
        said = reason(["layout"], ["layout", {"normalize": {"mean": [1.0, 2.0]}}])
        assert said.startswith(
            "the first step that differs is deployment's step 2 (normalize), which training has not: it cannot run on "
            "sample 1: `mean` has 2 numbers"
        )

    def test_a_step_that_cannot_run_on_the_second_sample(self) -> None:
        samples = {"a": PICTURES["0.png"], "b": PICTURES["1.png"][:3]}
        chain = [FLOAT, {"crop": {"height": 4, "width": 4}}]
        finding = look([FLOAT], chain, recorded("before", [FLOAT], samples))
        assert "deployment's step 2 (crop), which training has not: shape [4, 4, 3], not [6, 7, 3] (sample 1)" in (
            finding.reason
        )
        samples = {"a": PICTURES["0.png"][:4, :4], "b": PICTURES["1.png"][:3]}
        finding = look([FLOAT], chain, recorded("before", [FLOAT], samples))
        assert "it cannot run on sample 2: it cuts 4 x 4 pixels out of 3 x 7" in finding.reason


def states(*values: Any) -> list[dict[str, Any]]:
    return [{} if value is None else {VALUE: np.asarray(value)} for value in values]


def amount(training: list[Any], deployment: list[Any], at: int, beside: int, error: str = "") -> str:
    replayed = Replayed(tuple(states(*deployment)), error)
    return _amount(Compared((), (), [states(*training)], [replayed], Measure()), at, beside)


class TestByHowMuch:
    def test_the_values_after_the_steps_are_compared(self) -> None:
        assert amount([0, 1, 3, 9], [0, 1, 5, 9], 1, 1).startswith("by up to 2 in")
        assert amount([0, 3, 9, 9], [0, 1, 5, 9], 1, 0).startswith("by up to 2 in")
        assert amount([0, 1, 3, 9], [0, 5, 9, 9], 0, 1).startswith("by up to 2 in")

    def test_else_those_at_the_end(self) -> None:
        assert amount([0, 1, None, 9], [0, 1, 5, 6], 1, 1).startswith("by up to 3 in")
        assert amount([0, 1, 5, 9], [0, 1, 5, 6], 1, 1).startswith("by up to 3 in")
        assert amount([0, 1, 5], [0, 1, 6], 2, 2).startswith("by up to 1 in")
        assert amount([0, 1, 5], [0, 1, 6, 7], 2, 2).startswith("by up to 2 in")
        assert amount([0, 1, 5, 7], [0, 1, 6], 2, 1).startswith("by up to 1 in")

    def test_a_dtype_counts(self) -> None:
        assert amount([0, np.float32(2)], [0, np.float64(2)], 0, 0) == "dtype float64, not float32 (sample 1)"

    def test_an_error_counts_where_the_step_is_the_one_that_cannot_run(self) -> None:
        assert amount([0, 1], [0], 0, 0, "too small") == "it cannot run on sample 1: too small"
        assert amount([0, 1], [0, 1, 2], 3, 1, "too small") == "it cannot run on sample 1: too small"
        assert amount([0, 1, 2], [0, 4, 2], 0, 0, "too small").startswith("by up to 3 in")
        assert amount([0, 1, 2], [0, 4], 0, 0, "too small").startswith("by up to 3 in")

    def test_equal_values_have_none(self) -> None:
        assert amount([0, 1], [0, 1], 0, 0) == "the values differ"


class TestWhatWouldHaveBeenNoticed:
    def test_constant_samples_show_nothing(self) -> None:
        flat = np.full((6, 7, 3), 9, "uint8")
        finding = look([SCALED], [SCALED], recorded("before", [SCALED], {"a": flat, "b": flat + 1}))
        assert finding == Finding(
            "vacuous", "every sample is constant, so most mistakes would change nothing: give real ones"
        )
        mixed = {"a": flat, "b": PICTURES["0.png"]}
        assert look([SCALED], [SCALED], recorded("before", [SCALED], mixed)).outcome == "match"

    def test_a_step_without_effect_is_not_proven(self) -> None:
        """A `normalize` computes in float32 whatever it gets. Without the `cast` the same samples are enough."""
        chain = [FLOAT, SCALED]
        assert look(chain, [SCALED]).outcome == "match"
        assert look(chain, chain) == Finding(
            "vacuous",
            "the samples tell nothing about step 1 (cast): without it, or with other options, deployment gives the "
            "same; leave it out of deployment if it is to change nothing, or add samples that it changes",
        )

    def test_arrays_without_a_number_show_nothing(self) -> None:
        rows = {"a": np.float32([[0, 0.3, 1, 2, 3, 4], [1, 0.2, 1, 2, 3, 5]])}
        material = recorded("after", ["boxes"], rows)
        finding = look(["boxes"], ["boxes"], material, "after")
        assert finding == Finding("vacuous", "the chains end in arrays without a number")

    def test_mistakes_that_would_not_show_are_noted(self) -> None:
        gray = {"a": np.repeat(PICTURES["0.png"][:, :, :1], 3, axis=2)}
        (note,) = look([SCALED], [SCALED], recorded("before", [SCALED], gray)).notes
        assert note.startswith("the samples would not show a mistake of: ")

    @pytest.mark.parametrize(
        ("values", "constant"),
        [
            ([[1, 2], [[3, 3], [3, 3]]], True),
            ([[1, 1], [[3, 3], [3, 4]]], False),
            ([[1, 1], [[4, 3], [3, 3]]], False),
            ([[[3, 3]], [[3, 4]]], True),
            ([[[3, 4]], [[3, 3]]], False),
            ([[[[3, 4]]], [[3, 3]]], False),
            ([[1, 2], [3, 3]], False),
            ([[1, 1], [3, 4]], True),
            ([[]], True),
            ([np.zeros((0, 3))], True),
            ([5], True),
            ([[7], [[3]]], True),
        ],
    )
    def test_the_first_picture_of_a_sample_is_constant(self, values: list[Any], constant: bool) -> None:
        assert _constant(states(*values)) is constant
