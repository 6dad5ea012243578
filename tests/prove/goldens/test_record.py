"""What is recorded of a model: real Paddle, in the child that a release uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import ChildCrashed, ModelError, UsageError
from exporter.base.files import sha256_file
from exporter.base.tensors import load, save
from exporter.process.job import to_json
from exporter.process.workers import SINGLE_THREAD, Limits, Setting, call
from exporter.prove.compare.golden import read_goldens
from exporter.prove.compare.informative import doubts
from exporter.prove.goldens import child
from exporter.prove.goldens.explore import RECORDING, TRYING
from exporter.prove.goldens.finish import CaseFacts, finish
from exporter.prove.goldens.record import SEARCHING, Exported, RecordAnswer, RecordRequest
from exporter.prove.goldens.record import record as record_in_child
from exporter.spec.read import validate

#: What a bundle's goldens hold of a case.
KEPT = ("input", "eager", "truth")
SPEC: dict[str, Any] = {
    "name": "net",
    "model": "models.sound:mlp",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
    "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
}


@pytest.fixture(autouse=True)
def where_the_models_are(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)


def record(into: Path, outputs: list[str], **keys: Any) -> dict[str, Any]:
    spec = validate({**SPEC, **keys}, "test")
    scratch = into.with_suffix("")
    scratch.mkdir()
    answer = call(child.record, RecordRequest(spec, None, tuple(outputs), scratch), environment=SINGLE_THREAD)
    made = finish(spec, answer, scratch, into)
    as_stored = [to_json(CaseFacts, case) for case in made.cases]
    return {**vars(answer), "cases": as_stored, "left_out": made.left_out, "notes": [*made.notes, *answer.notes]}


def test_a_sound_model_leaves_a_float64_truth_close_to_eager_twice_the_same(tmp_path: Path) -> None:
    told = record(tmp_path / "one.safetensors", ["y"])
    again = record(tmp_path / "two.safetensors", ["y"])
    assert told == again
    assert sha256_file(tmp_path / "one.safetensors") == sha256_file(tmp_path / "two.safetensors")
    for case in told["cases"]:
        about = case["outputs"]["y"]
        assert about["method"].startswith("float64") and not about["gate"], case["name"]
        assert 0 <= about["e_ref_max"] < 1e-5 and about["scale_max"] > 0
    tensors = load(tmp_path / "one.safetensors")
    assert all(value.dtype.name == "float64" for name, value in tensors.items() if "/truth/" in name)
    assert len(read_goldens(tmp_path / "one.safetensors", told["cases"])) == len(told["cases"])


def test_what_changes_from_run_to_run_is_never_a_golden(tmp_path: Path) -> None:
    told = record(tmp_path / "g.safetensors", ["y"], model="models.unsound:Noisy")
    gates = [case["outputs"]["y"]["gate"] for case in told["cases"]]
    assert gates and all(gates), "of few numbers, two runs may agree by chance: then another gate must be shut"
    assert any("other values when run twice" in gate for gate in gates)


def test_outputs_without_size_shut_their_own_gate_only(tmp_path: Path) -> None:
    told = record(tmp_path / "g.safetensors", ["a", "zero", "one", "tiny"], model="models.unsound:Vacuous")
    for case in told["cases"]:
        gates = {name: about["gate"] for name, about in case["outputs"].items()}
        assert not gates["a"] and not gates["one"], "a constant is the controls' business"
        assert "zero or near the denormals" in gates["zero"] and "near the denormals" in gates["tiny"]


def test_a_size_that_the_spec_promises_and_forward_refuses_names_the_case(tmp_path: Path) -> None:
    inputs = {"x": {"dtype": "float32", "shape": ["batch", "width"]}}
    dims = {**SPEC["dims"], "width": {"min": 4, "typical": 4, "max": 5}}
    with pytest.raises(ModelError, match="the eager layer does not run on this case") as caught:
        record(tmp_path / "g.safetensors", ["y"], inputs=inputs, dims=dims)
    assert "width=5" in caught.value.where and "promise" in caught.value.hint
    assert not (tmp_path / "g.safetensors").exists()


def test_values_that_are_not_there_are_the_user_s_mistake(tmp_path: Path) -> None:
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 4], "values": "none.npy"}}
    with pytest.raises(UsageError, match=r"none\.npy"):
        record(tmp_path / "g.safetensors", ["y"], inputs=inputs)


def test_large_outputs_are_kept_as_a_sample_with_their_norms(tmp_path: Path) -> None:
    dims = {"batch": {"min": 1, "typical": 50_000, "max": 50_000}}
    told = record(tmp_path / "g.safetensors", ["y"], dims=dims, golden_mb=0.5)
    goldens = read_goldens(tmp_path / "g.safetensors", told["cases"])
    large = next(case.outputs["y"] for case in goldens if case.dims["batch"] == 50_000)
    assert large.index is not None and large.eager.shape == large.truth.shape == large.index.shape
    assert large.shape == (50_000, 3) and large.scale[0] >= abs(large.truth).max()


def test_a_probing_case_that_eager_cannot_compute_is_left_out(tmp_path: Path) -> None:
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 4], "values": "uniform(1,9)"}}
    spec = validate({**SPEC, "model": "models.unsound:Divides", "inputs": inputs}, "test")
    made = record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert "Integer division by zero" in made.left_out["batch=2:zeros"]
    assert "batch=2" in {case.name for case in made.cases}


def test_whatever_forward_raises_is_a_models_mistake(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not run on this case: OfItsOwn: the sensor is off"):
        record(tmp_path / "g.safetensors", ["y"], model="models.unsound:Raises")


def doings(into: Path, model: str, **keys: Any) -> tuple[RecordAnswer, list[str]]:
    """The child's answer, and what it said that it did."""
    said: list[str] = []
    spec = validate({**SPEC, "model": model, **keys}, "test")
    into.mkdir()
    answer = call(
        child.record,
        RecordRequest(spec, None, ("y",), into),
        environment=SINGLE_THREAD,
        on_event=lambda event: said.append(event["doing"]),
    )
    return answer, [one for one in said if one.startswith(SEARCHING)]


WIDE: dict[str, Any] = {"dims": {"batch": {"min": 1, "typical": 2, "max": 20}}}


def test_branches_on_values_and_named_dims_are_searched_for_and_others_are_not_named(tmp_path: Path) -> None:
    told, tried = doings(tmp_path / "g.safetensors", "models.branching:Branching", **WIDE)
    assert told.notes == (), "training, configuration and a size that never varies are no branches of inputs"
    by_size = [case for case in told.cases if case.dims["batch"] == 7]
    assert len(told.found) == 2 and len(by_size) == 1 and by_size[0].name.startswith("batch=7:search-")
    assert 2 <= len(tried) <= 20


def test_the_entries_of_a_table_that_a_size_is_looked_up_in_are_run(tmp_path: Path) -> None:
    told, _ = doings(tmp_path / "g.safetensors", "models.branching:Scaled", **WIDE)
    assert told.notes == () and {case.dims["batch"] for case in told.cases} >= {7, 13}
    assert len(told.found) == 2, "the spec promises no batch of 48"


def test_what_no_trial_reaches_is_named_and_the_search_costs_no_more_than_the_recording(tmp_path: Path) -> None:
    told, tried = doings(tmp_path / "g.safetensors", "models.branching:Unreachable", **WIDE)
    (note,) = [one for one in told.notes if "is reached by no case" in one]
    assert note.startswith("models/branching.py:") and not told.found
    planned = sum(case.dims["batch"] for case in told.cases) / 2
    assert 0 < TRYING * len(tried) <= RECORDING * planned


def test_nothing_is_tried_where_no_input_decides_a_branch(tmp_path: Path) -> None:
    _, tried = doings(tmp_path / "g.safetensors", "models.sound:mlp")
    assert tried == []


@pytest.mark.parametrize(
    ("model", "said"), [("DiesWhenLarge", "the child died by SIGKILL"), ("LoopsWhenLarge", "lines")]
)
def test_a_trial_that_kills_the_process_or_never_ends_is_a_note_and_no_more(
    tmp_path: Path, model: str, said: str
) -> None:
    spec = validate({**SPEC, "model": f"models.branching:{model}"}, "test")
    kept = record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert (
        kept.notes[0].startswith("the search for inputs that reach other lines was given up: ")
        and said in kept.notes[0]
    )
    assert len(kept.cases) > 5


def test_a_probing_case_that_kills_the_process_is_left_out(tmp_path: Path) -> None:
    spec = validate({**SPEC, "model": "models.branching:DiesOfZeros"}, "test")
    kept = record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert kept.left_out["batch=2:zeros"] == "eager does not survive it: the child died by SIGABRT"
    names = {case.name for case in kept.cases}
    assert "batch=2:zeros" not in names and "batch=2:large" in names


def test_a_promised_case_that_kills_the_process_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    spec = validate({**SPEC, "model": "models.branching:DiesOfOne"}, "test")
    with pytest.raises(ChildCrashed, match="the child died by SIGABRT") as caught:
        record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert caught.value.where == "while recording case batch=1"
    assert caught.value.hint.startswith("narrow what the dims and values of the spec promise")


# ---- as a release asks for it ------------------------------------------------------------------------------------


def test_what_a_release_gets_is_what_the_child_recorded_of_the_checkpoint(tmp_path: Path) -> None:
    shapes = {"first.weight": (4, 16), "first.bias": (16,), "last.weight": (16, 3), "last.bias": (3,)}
    generator = np.random.default_rng(5)
    weights = {name: generator.standard_normal(shape).astype("float32") for name, shape in shapes.items()}
    save(tmp_path / "w.safetensors", weights)
    waiver = {"claim": "*/none", "reason": "a date is no JSON of itself", "until": "2999-01-01"}
    trained = {key: value for key, value in SPEC.items() if key != "weights"}
    content = {
        **trained,
        **WIDE,
        "checkpoint": "w.safetensors",
        "waivers": [waiver],
        "model": "models.branching:Branching",
    }
    heard: list[dict[str, Any]] = []
    steps: list[str] = []
    setting = Setting(Limits(seconds=60), heard.append, steps.append)
    made = record_in_child(
        validate(content, "t"), tmp_path / "w.safetensors", Exported(["y"]), tmp_path / "g.safetensors", setting
    )
    names = [case.name for case in made.cases]
    assert len([name for name in names if ":search-" in name]) == 2 and made.left_out == {} and made.notes == ()
    goldens = load(tmp_path / "g.safetensors")
    hidden = np.maximum(goldens["batch=2/input/x"] @ weights["first.weight"] + weights["first.bias"], 0)
    expected = hidden @ weights["last.weight"] + weights["last.bias"]
    assert np.allclose(goldens["batch=2/eager/y"], expected, atol=1e-4)
    assert steps == ["recording goldens"]
    assert {event["case"] for event in heard if "case" in event} >= set(names[:5]), "who asked hears of each case"


ONE_THREAD = """
import os

import paddle


class Threads(paddle.nn.Layer):
    def forward(self, x):
        return x * float(os.environ["OMP_NUM_THREADS"])
"""


def test_goldens_are_recorded_in_one_thread(tmp_path: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workplace / "models/threads.py").write_text(ONE_THREAD)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    spec = validate({**SPEC, "model": "models.threads:Threads"}, "test")
    record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    goldens = load(tmp_path / "g.safetensors")
    assert np.array_equal(goldens["batch=2/input/x"], goldens["batch=2/eager/y"])


def test_where_the_promised_cases_tell_nothing_the_rest_is_not_recorded_and_that_is_no_error(tmp_path: Path) -> None:
    spec = validate({**SPEC, "model": "models.unsound:Vacuous"}, "test")
    outputs = ["a", "zero", "one", "tiny"]
    made = record_in_child(spec, None, Exported(outputs), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert [case.name for case in made.cases] == ["batch=2", "batch=2#2"]


def test_a_probing_case_that_a_choice_among_equals_decides_is_left_out_and_the_rest_is_compared(tmp_path: Path) -> None:
    """Rows of zeros leave the router's scores equal, and Paddle takes other ones than ONNX Runtime."""
    told = record(tmp_path / "g.safetensors", ["y"], model="models.tied:Router")
    reason = "it depends on which of equal elements topk takes, and Paddle promises no order"
    assert told["left_out"] == {"batch=2:zeros": reason}
    rest = {case["name"] for case in told["cases"]}
    assert {
        "batch=2",
        "batch=2#2",
        "batch=1",
        "batch=4",
        "batch=2:large",
        "batch=2:one_hot",
        "batch=2:equal_rows",
    } <= rest
    assert not any(case["outputs"]["y"]["gate"] for case in told["cases"])
    assert not [name for name in load(tmp_path / "g.safetensors") if name.split("/")[1] not in KEPT]


def test_a_tie_in_every_case_proves_nothing_and_names_what_to_give(tmp_path: Path) -> None:
    told = record(tmp_path / "g.safetensors", ["y"], model="models.tied:Shuffled")
    assert not told["whole"] and [case["name"] for case in told["cases"]] == ["batch=2", "batch=2#2"]
    first, *_ = doubts(read_goldens(tmp_path / "g.safetensors", told["cases"]), 4.0)
    assert first.gate and first.reason.startswith("it depends on which of equal elements argsort takes")
    assert "give inputs that lead to no equal elements" in first.hint and "stable=True" in first.hint


def test_equal_elements_excuse_nothing_where_no_output_depends_on_the_choice(tmp_path: Path) -> None:
    outputs = ["top", "sorted", "stable", "best"]
    told = record(tmp_path / "g.safetensors", outputs, model="models.tied:Ranked")
    assert told["tied"] and not any("equal elements" in why for why in told["left_out"].values())
    assert not any(about["gate"] for case in told["cases"] for about in case["outputs"].values())


SKIPPING = """
import exporter.prove.goldens.child as child
from models.sound import Mlp

planned = child.plan_cases
child.plan_cases = lambda spec: planned(spec)[:-1]
"""


def test_a_model_that_makes_its_child_leave_a_case_out_is_found_out(tmp_path: Path, workplace: Path) -> None:
    (workplace / "models/skipping.py").write_text(SKIPPING)
    spec = validate({**SPEC, "model": "models.skipping:Mlp"}, "test")
    with pytest.raises(ModelError, match="not every planned case was recorded") as caught:
        record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
    assert caught.value.where == str(tmp_path / "g.safetensors")


@pytest.mark.parametrize(("table", "kind"), [(39, "largest"), (40, "")])
def test_a_range_that_holds_what_the_model_refuses_is_a_mistake_of_the_spec(
    tmp_path: Path, table: int, kind: str
) -> None:
    """By chance no draw is the last of many ids; the cases with the ends of the range are."""
    inputs = {"ids": {"dtype": "int64", "shape": ["batch", 2], "values": "integers(0,40)"}}
    keys = {"model": "models.rows:Looked", "args": {"rows": table}, "inputs": inputs, "seed": 5}
    spec = validate({**SPEC, **keys}, "test")
    setting = Setting(Limits(seconds=60))
    if not kind:
        made = record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", setting)
        assert "batch=2:rows_of_ids" in {case.name for case in made.cases}
        return
    with pytest.raises(UsageError, match=r"input 'ids' holds 39, and the table of 39 rows") as caught:
        record_in_child(spec, None, Exported(["y"]), tmp_path / "g.safetensors", setting)
    assert "write values: integers(0,39)" in caught.value.hint
