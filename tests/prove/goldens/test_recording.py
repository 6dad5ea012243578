"""What the child that records is asked, and what becomes of its answer; children that run are in test_record.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut, ModelError
from exporter.base.tensors import TensorSpec, load, save
from exporter.base.watch import Seen
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import Conversion
from exporter.process.memo import Question, remembering
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, Setting
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.child import record as record_job
from exporter.prove.goldens.record import (
    SEARCHING,
    Exported,
    Record,
    RecordAnswer,
    RecordedCase,
    RecordRequest,
    VerdictSettings,
    record,
)
from exporter.spec.model import ONLY_VERDICT, Spec
from exporter.spec.read import validate
from tests.prove.goldens.test_masks import pir

SPEC: dict[str, Any] = {
    "name": "net",
    "model": "models.sound:mlp",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
    "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
}
PLANNED = [case.name for case in plan_cases(validate(SPEC, "test"))]
FOUND = "batch=2:search-7"
WEIGHT = np.random.default_rng(2).standard_normal((4, 3))


class Child:
    """It answers for a linear layer, with what the planned cases and those of a search would leave.

    In the place of an answer to the Nth question may stand what it says that it does, `of` which case, and how it ends.
    """

    def __init__(self, *ends: tuple[Sequence[str], Exception], lost: str = "", **told: Any) -> None:
        self.ends, self.lost, self.told = list(ends), lost, told
        self.asked: list[dict[str, Any]] = []

    def __call__(self, job: Any, request: RecordRequest, limits: Limits, **how: Any) -> RecordAnswer:
        self.asked.append({"job": job, "request": request, "limits": limits, **how})
        doings, end = self.ends.pop(0) if self.ends else (["running eager"], None)
        for doing in doings:
            said, _, case = doing.partition(" of ")
            how["on_event"]({"doing": said, **({"case": case} if case else {})})
        if end:
            raise end
        return self.answer(request.into)

    def answer(self, into: Path) -> RecordAnswer:
        spec, cases = validate(SPEC, "test"), []
        dims = {case.name: (dict(case.dims), case.seed) for case in plan_cases(spec)}
        dims |= {name: ({"batch": 2}, 7) for name in self.told.get("found", ())}
        for number, (name, (sizes, seed)) in enumerate((at, of) for at, of in dims.items() if at != self.lost):
            rows = np.random.default_rng([seed, number]).standard_normal((sizes["batch"], 4)).astype("float32")
            exact = rows.astype("float64") @ WEIGHT
            tensors = {"input/x": rows, "eager/y": exact.astype("float32"), "truth/y": exact}
            save(into / f"{number}.safetensors", {f"{name}/{key}": value for key, value in tensors.items()})
            cases.append(RecordedCase(name, sizes, seed, {"y": "float64"}))
        told: dict[str, Any] = {
            "unstable": {},
            "tied": {},
            "left_out": {},
            "found": (),
            "whole": True,
            "notes": ("a note of the child's",),
        }
        return RecordAnswer(cases=tuple(cases), **{**told, **self.told})


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Record]:
    """Record what such a child leaves."""

    def of(child: Child, checkpoint: Path | None = None, **setting: Any) -> Record:
        monkeypatch.setattr("exporter.prove.goldens.record.call", child)
        made = Setting(Limits(seconds=7), **setting)
        return record(validate(SPEC, "test"), checkpoint, Exported(["y"]), tmp_path / "g.safetensors", made)

    return of


Recorder = Callable[..., Record]


def test_all_that_was_planned_and_found_is_recorded_or_left_out(recorded: Recorder, tmp_path: Path) -> None:
    refused = {"batch=2:zeros": "eager refuses it"}
    child = Child(found=(FOUND,), lost="batch=2:zeros", left_out=refused)
    made = recorded(child, Path("w.safetensors"))
    assert sorted([*(case.name for case in made.cases), *made.left_out]) == sorted([*PLANNED, FOUND])
    assert made.left_out == refused and FOUND in {case.name for case in made.cases}
    assert made.notes[-1] == "a note of the child's"
    goldens = load(tmp_path / "g.safetensors")
    assert np.allclose(goldens["batch=2/eager/y"], goldens["batch=2/input/x"] @ WEIGHT, atol=1e-5)
    (asked,) = child.asked
    request = asked.pop("request")
    assert asked.pop("on_event") and request.spec and request.beside
    assert not request.into.exists(), "what the child left is gone"
    assert asked == {
        **{"job": record_job, "limits": Limits(seconds=7)},
        **{"environment": SINGLE_THREAD, "imports": PADDLE},
    }
    common = {"spec": request.spec, "beside": request.beside, "into": request.into}
    assert request == RecordRequest(checkpoint=Path("w.safetensors"), outputs=("y",), **common)


def test_the_child_is_told_what_was_exported(recorded: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = Exported(["y"], {"w": "1"}, constants=["k"], sized=["s"])
    monkeypatch.setattr(f"{__name__}.Exported", lambda _: exported)
    child = Child()
    recorded(child)
    (request,) = (asked["request"] for asked in child.asked)
    assert (request.parameters, request.constants, request.sized) == ({"w": "1"}, ("k",), ("s",))


@pytest.mark.parametrize("found", [(), (FOUND,)])
def test_a_case_that_is_neither_recorded_nor_left_out_is_told(
    recorded: Recorder, tmp_path: Path, found: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError, match="not every planned case was recorded") as caught:
        recorded(Child(lost=[*found, *PLANNED][0], found=found))
    assert caught.value.where == str(tmp_path / "g.safetensors")
    assert PLANNED[0] not in {case.name for case in recorded(Child(lost=PLANNED[0], whole=False)).cases}


def test_who_asked_hears_what_the_child_does(recorded: Recorder) -> None:
    heard: list[dict[str, Any]] = []
    recorded(Child(), on_event=heard.append)
    assert heard == [{"doing": "running eager"}]
    assert recorded(Child()).cases, "nobody has to"


ENDS = [ChildCrashed("it died"), ChildTimedOut("it looped"), ChildOutOfMemory("it grew")]


@pytest.mark.parametrize("end", ENDS)
def test_a_child_that_ends_in_its_search_is_followed_by_one_that_does_not_search(
    recorded: Recorder, end: ChildFailed
) -> None:
    heard: list[dict[str, Any]] = []
    child = Child((["running eager", f"{SEARCHING}: 3"], end))
    made = recorded(child, on_event=heard.append)
    first, second = (asked["request"] for asked in child.asked)
    assert second == replace(first, search=False) and first.search
    given_up = f"the search for inputs that reach other lines was given up: {end.what}"
    assert given_up in made.notes and made.notes.index(given_up) == made.notes.index("a note of the child's") - 1
    assert [event["doing"] for event in heard] == ["running eager", f"{SEARCHING}: 3", "running eager"]


@pytest.mark.parametrize("doings", [[], ["running eager"], [f"{SEARCHING}: 3", "measuring"]])
@pytest.mark.parametrize("end", ENDS)
def test_a_child_that_ends_elsewhere_is_not_asked_again(
    recorded: Recorder, end: ChildFailed, doings: list[str]
) -> None:
    end.hint = "as it was"
    child = Child((doings, end))
    with pytest.raises(type(end)) as caught:
        recorded(child)
    assert caught.value is end and len(child.asked) == 1 and end.hint == "as it was"


@pytest.mark.parametrize("end", ENDS)
def test_a_search_is_given_up_once_and_stays_so(recorded: Recorder, end: ChildFailed) -> None:
    searching = ([f"{SEARCHING}: 3"], end)
    child = Child(searching, (["recording of batch=2:zeros"], end), searching)
    with pytest.raises(type(end)):
        recorded(child)
    first, *others = (asked["request"] for asked in child.asked)
    fatal = {"batch=2:zeros": f"eager does not survive it: {end.what}"}
    assert others == [replace(first, search=False), replace(first, search=False, fatal=fatal)]


@pytest.mark.parametrize("end", ENDS)
def test_each_probing_case_that_a_child_ends_in_is_left_out_by_the_next(recorded: Recorder, end: ChildFailed) -> None:
    ends = [
        *((["recording of " + case], end) for case in ("batch=2:zeros", "batch=2:large")),
        ([f"{SEARCHING}: 3"], end),
    ]
    child = Child(*ends)
    recorded(child)
    why = f"eager does not survive it: {end.what}"
    first, *others = (asked["request"] for asked in child.asked)
    one, both = {"batch=2:zeros": why}, {"batch=2:zeros": why, "batch=2:large": why}
    assert others == [replace(first, fatal=one), replace(first, fatal=both), replace(first, fatal=both, search=False)]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("cases", [["batch=2"], ["batch=2:zeros", "batch=2:zeros"], ["batch=2:unheard"]], ids=str)
def test_a_case_that_was_promised_or_left_out_is_not_left_out_again(
    recorded: Recorder, end: ChildFailed, cases: list[str]
) -> None:
    child = Child(*((["recording of " + case], end) for case in cases))
    with pytest.raises(type(end)) as caught:
        recorded(child)
    assert caught.value is end and len(child.asked) == len(cases)
    assert end.hint.startswith("narrow what the dims and values of the spec promise to what forward takes; --debug")


def test_rows_of_a_mask_are_asked_about_and_left_out_where_eager_does_not_survive_them(
    recorded: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranged = {"dtype": "float32", "shape": ["batch", 4], "values": "uniform(0,1)"}
    monkeypatch.setitem(SPEC, "inputs", {"x": ranged})
    exported = Exported(["y"], program=pir(tmp_path, "y = where x c c"))
    monkeypatch.setattr(f"{__name__}.Exported", lambda _: exported)
    end = ChildCrashed("it died")
    child = Child((["recording of batch=2:rows_of_x"], end))
    recorded(child)
    first, second = (asked["request"] for asked in child.asked)
    assert first.masks == ("x",) and "batch=2:rows_of_x" in {case.name for case in first.further()}
    assert second == replace(first, fatal={"batch=2:rows_of_x": f"eager does not survive it: {end.what}"})
    assert replace(first, masks=()).further() == []


def test_only_real_numbers_of_a_declared_range_may_be_masks(tmp_path: Path) -> None:
    def masks(program: Path | None, values: str) -> tuple[str, ...]:
        dtype = "int64" if values.startswith("integers") else "float32"
        inputs = {name: {"dtype": dtype, "shape": ["batch", 4], "values": values} for name in ("m", "x")}
        return Exported(["y"], program=program).masks(validate({**SPEC, "inputs": inputs}, "test"))

    program = pir(tmp_path, "y = multiply m x")
    assert masks(program, "uniform(0,1)") == ("m", "x")
    assert masks(program, "normal") == masks(program, "integers(0,2)") == masks(None, "uniform(0,1)") == ()
    assert masks(tmp_path / "gone.json", "normal") == (), "it is not even read"


def test_what_was_written_is_known_with_its_program(tmp_path: Path) -> None:
    artifact = Artifact("pir", "fp32", ("pir/model.json",), ("x",), ("y",), ("y",))
    written = Exported.written(tmp_path, [artifact], ("y", "z"), {"w": "1"}, ("z",), ("y",))
    assert written == Exported(("y", "z"), {"w": "1"}, tmp_path / "pir/model.json", ("z",), ("y",))
    outputs = tuple(TensorSpec(name, "float32", (2,)) for name in ("y", "z"))
    conversion = Conversion((artifact,), outputs, {"w": "1"}, constants=("z",), sized=("y",))
    assert Exported.converted(tmp_path, conversion) == replace(written, outputs=["y", "z"])


class Asking:
    """It hears what the child would be asked, and lets none run."""

    question: Question

    def answer(self, question: Question, run: Callable[[], tuple[dict[str, Any], Seen]]) -> dict[str, Any]:
        self.question = question
        raise ModelError("heard")


def test_what_only_the_verdict_depends_on_is_asked_beside_the_rest(tmp_path: Path) -> None:
    """So a release with another waiver, or of another version, finds the goldens that it has."""
    waiver = {"claim": "*/none", "reason": "a date is no JSON of itself", "until": "2999-01-01"}
    asked = {}
    other = {"waivers": [waiver], "version": "9.9.9", "budget": 2.0, "candidates": ["theirs/model.onnx"]}
    other["determinism"] = "bits"
    unread = {"candidates": (), "determinism": None}  # whoever records goldens looks at neither
    for name, more in {"plain": {}, "other": other}.items():
        memo = Asking()
        spec = validate({**SPEC, **more}, "test")
        again = VerdictSettings.of(spec).put_into(spec.without_verdict())
        assert again == spec.model_copy(update=unread)
        with remembering(memo), pytest.raises(ModelError, match="heard"):
            exported = Exported(["y"], {"b": "2", "a": "1"}, constants=["y"])
            record(spec, None, exported, tmp_path / "g.safetensors", Setting(Limits(seconds=60)))
        asked[name] = dict(memo.question.request)
        assert [*asked[name]["parameters"].items()] == [("a", "1"), ("b", "2")] and asked[name]["constants"] == ["y"]
        assert json.loads(json.dumps(asked[name])) == asked[name], "it is JSON as it stands"
        assert memo.question.environment == SINGLE_THREAD
        beside = asked[name].pop("beside")
        used = ONLY_VERDICT - set(unread)
        assert set(beside) == used, "and nothing else, or another spec would get an old answer"
        assert Spec.model_validate({**asked[name]["spec"], **beside}) == spec.model_copy(update=unread)
        asked[name].pop("into")
    assert asked["plain"] == asked["other"]
    assert asked["plain"]["checkpoint"] is None and asked["plain"]["outputs"] == ["y"]
