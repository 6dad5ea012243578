"""The proof of the steps around a model without its children: what it plans, what it asks them, what it makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import BundleError, ChildCrashed, EnvironmentLacks, UsageError
from exporter.process.job import Job
from exporter.process.workers import SINGLE_THREAD, Setting
from exporter.prove.proofs.base import Harness
from exporter.prove.proofs.kinds import pipeline as proof
from exporter.prove.proofs.kinds.pipeline import _changed, plugin
from exporter.prove.proofs.samples import SAMPLES, moves
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.steps.answer import AnswerRequest
from exporter.steps.answer import judge as judge_answer
from exporter.steps.base import CLASSES, VALUE
from exporter.steps.chain import read_chain, steps_of
from exporter.steps.judge import Judged, SideRequest
from exporter.steps.judge import judge as judge_side
from exporter.steps.material import Material
from tests.prove.proofs.subjects import LOW, PLAIN, SOURCE, artifact, harness, spec, subject
from tests.steps.recorded import recorded

OTHER = Run("onnx", "fp32", "openvino")
BEFORE, AFTER = (Claim("source", "fp32", output=side, kind="pipeline") for side in ("preprocess", "postprocess"))
ANSWERS = [Claim("onnx", "fp32", engine, output="answer", kind="pipeline") for engine in ("onnxruntime", "openvino")]
SCALED: Any = {"normalize": {"mean": [0.5]}}
SAMPLE = [np.float32([1, 2, 3]), np.float32([3, 1, 2])]
SCORES = [np.float32([0, 1, 2, 3, 9]), np.float32([5, 1, 2, 3, 4])]
FUNCTION = "no.such.module:function"
NOT_ASKED_FOR = "the child left an answer that was not asked for"


def said(
    training: Any = (SCALED,),
    deployment: Any = (SCALED,),
    after: tuple[Any, Any] | None = (("argmax",), ("argmax",)),
    **more: Any,
) -> dict[str, Any]:
    """The pipeline of a spec; `after` holds training's and deployment's steps behind the model."""
    content = {"samples": ["*.npy"], "preprocess": {"training": training, "deployment": deployment}, **more}
    if after is not None:
        content["postprocess"] = dict(zip(("training", "deployment"), after, strict=True))
    return content


def given(content: dict[str, Any] | None, folder: Path = Path("nowhere"), **more: Any) -> Harness:
    of = spec() if content is None else spec(pipeline=content)
    made = harness(subject(artifact(), of=of, folder=folder, **more), SOURCE, PLAIN, OTHER, LOW)
    return replace(made, setting=Setting(on_event=[].append))


def with_material(folder: Path, content: dict[str, Any], **more: Any) -> Harness:
    """The harness of a bundle that holds what training made of two samples: the scores `y` and their argmax."""
    material = recorded("before", [SCALED], dict(zip("ab", SAMPLE, strict=True)))
    material.outputs = ("y",)
    for number, scores in enumerate(SCORES):
        material.tensors[f"outputs/{number}/y"] = scores
        (state,) = steps_of(read_chain(["argmax"]), material.start("after", number))
        material.keep("after", "training", 1, number, state)
    material.write(folder / SAMPLES)
    return given(content, folder, **more)


class Children:
    """Children that are none: what they are asked is kept, and answered in this process."""

    def __init__(self, patch: pytest.MonkeyPatch, scores: Sequence[Any] = SCORES) -> None:
        self.asked: list[tuple[Job[Any, Any], Any]] = []
        self.how: list[Any] = []
        self.engines: list[Any] = []
        self.scores = scores
        patch.setattr(proof, "call", self.call)
        patch.setattr(proof, "answered", self.answered)

    def call(self, job: Job[Any, Any], request: Any, limits: Any, **how: Any) -> Any:
        self.asked.append((job, request))
        self.how.append((limits, how))
        return job(request)

    def answered(self, subject: Any, run: Any, states: Any, setting: Any) -> Any:
        self.engines.append((subject, run, [state[VALUE].tolist() for state in states], setting))
        return [{"y": scores} for scores in self.scores]


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Children:
    return Children(monkeypatch)


class TestPlan:
    def test_both_sides_and_an_answer_of_each_engine_in_fp32(self) -> None:
        assert plugin.plan(given(said())) == {BEFORE, AFTER, *ANSWERS}

    def test_nothing_is_planned_of_what_the_spec_does_not_name(self) -> None:
        assert plugin.plan(given(None)) == frozenset()
        assert plugin.plan(given(said(after=None))) == {BEFORE}
        assert plugin.plan(given(said(("layout",), ("layout",), fold=True))) == {BEFORE}

    def test_there_is_no_answer_without_the_models_code(self) -> None:
        assert plugin.plan(given(said(after=(("argmax",), (FUNCTION,))))) == {BEFORE, AFTER}
        assert plugin.plan(given(said(after=((FUNCTION,), ("argmax",))))) == {BEFORE, AFTER, *ANSWERS}


class TestProve:
    def test_nothing_claimed_is_nothing_proven_and_nothing_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proof, "run_chains", _raising(AssertionError("it must not run")))
        assert plugin.prove([], with_material(tmp_path, said(training=(FUNCTION,)))) == {}
        assert plugin.prove([BEFORE], given(None)) == {}

    def test_without_samples_all_is_missing(self, tmp_path: Path) -> None:
        reason = f"the bundle holds no {SAMPLES}: nothing was recorded of the pipeline that its spec names"
        missing = Evidence(Outcome.MISSING, reason, stage="plan")
        assert plugin.prove([BEFORE, *ANSWERS], given(said(), tmp_path)) == dict.fromkeys([BEFORE, *ANSWERS], missing)

    def test_equal_chains_and_outputs_match(self, tmp_path: Path, children: Children) -> None:
        at_hand = with_material(tmp_path, said(tolerance=0.25))
        proven = plugin.prove([BEFORE, AFTER, *ANSWERS], at_hand)
        assert [evidence.outcome for evidence in proven.values()] == [Outcome.MATCH] * 4
        assert [evidence.elements for evidence in proven.values()] == [6, 4, 2, 2], "a class, and how many there are"
        assert {evidence.provider for evidence in proven.values()} == {"by steps"}
        assert {evidence.reason for evidence in proven.values()} == {""}
        assert [job for job, _ in children.asked] == [judge_side, judge_side, judge_answer, judge_answer]
        limits = replace(at_hand.setting.limits, code=None)
        assert children.how == [(limits, {"environment": SINGLE_THREAD, "on_event": at_hand.setting.on_event})] * 4

    def test_children_are_told_all_that_they_judge(self, tmp_path: Path, children: Children) -> None:
        at_hand = with_material(tmp_path, said(tolerance=0.25))
        plugin.prove([BEFORE, AFTER, ANSWERS[0]], at_hand)
        before, after, answer = (request for _, request in children.asked)
        common: dict[str, Any] = {"fresh": None, "tolerance": 0.25}
        material = tmp_path / SAMPLES
        assert before == SideRequest(
            "before", (SCALED,), (SCALED,), material, into=before.into, names=(VALUE,), **common
        )
        compared = {"names": (VALUE, CLASSES), **common}
        assert after == SideRequest("after", ("argmax",), ("argmax",), material, into=after.into, **compared)
        assert (before.into.name, after.into.name) == ("before.safetensors", "after.safetensors")
        allowed = dict(moves(at_hand.subject))
        assert allowed and answer == AnswerRequest(("argmax",), ("argmax",), material, answer.made, allowed)
        ((of, run, states, setting),) = children.engines
        assert (of, run, setting) == (at_hand.subject, PLAIN, at_hand.setting)
        assert states == [[0.5, 1.5, 2.5], [2.5, 0.5, 1.5]], "what deployment's steps give goes in"

    def test_every_input_that_steps_feed_is_compared(self, tmp_path: Path, children: Children) -> None:
        inputs = {name: {"dtype": "float32", "shape": ["batch", 3]} for name in ("x", "z")}
        of = spec(pipeline=said(), inputs=inputs)
        at_hand = with_material(tmp_path, said())
        at_hand = replace(at_hand, subject=replace(at_hand.subject, spec=of))
        plugin.prove([BEFORE, AFTER], at_hand)
        assert [request.names for _, request in children.asked] == [(VALUE, "z"), (VALUE, CLASSES)]

    def test_other_answers_are_a_mismatch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Children(monkeypatch, SCORES[::-1])
        (_, evidence) = plugin.prove([BEFORE, ANSWERS[0]], with_material(tmp_path, said())).values()
        assert evidence.outcome is Outcome.MISMATCH
        assert evidence.reason.startswith("the answer to sample 1 is another than training's")

    def test_where_the_inputs_differ_there_is_no_answer(self, tmp_path: Path, children: Children) -> None:
        proven = plugin.prove(
            [BEFORE, *ANSWERS], with_material(tmp_path, said(deployment=({"normalize": {"mean": [2]}},)))
        )
        assert proven[BEFORE].outcome is Outcome.MISMATCH
        reason = "the steps before the model differ: see source/pipeline/preprocess"
        assert [proven[claim] for claim in ANSWERS] == [Evidence(Outcome.INCONCLUSIVE, reason)] * 2
        assert not children.engines

    def test_an_engine_that_fails_is_told(self, tmp_path: Path, children: Children, monkeypatch: Any) -> None:
        for error, evidence in (
            (UsageError("no such input"), Evidence(Outcome.CRASHED, "no such input", stage="run")),
            (
                EnvironmentLacks("it is not here", hint="install it"),
                Evidence(Outcome.MISSING, "it is not here; install it", stage="environment"),
            ),
        ):
            monkeypatch.setattr(proof, "answered", _raising(error))
            proven = plugin.prove([BEFORE, ANSWERS[0]], with_material(tmp_path, said()))
            assert proven[ANSWERS[0]] == evidence

    @pytest.mark.parametrize(
        ("answer", "reason", "stage"),
        [
            (UsageError("no such step"), "no such step", "run"),
            (BundleError("damaged"), "damaged", "load"),
            (Judged("fine", "", 1, ()), "'fine' is not a valid Outcome", "run"),
            (
                ChildCrashed("the child left an answer that was not asked for"),
                "the child left an answer that was not asked for",
                "run",
            ),
        ],
    )
    def test_a_child_that_fails_is_told(
        self, answer: Any, reason: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            proof, "call", _raising(answer) if isinstance(answer, Exception) else lambda *_, **__: answer
        )
        (evidence,) = plugin.prove([BEFORE], with_material(tmp_path, said())).values()
        assert (evidence.outcome, evidence.stage) == (Outcome.CRASHED, stage) and reason in evidence.reason

    def test_a_reason_stands_before_notes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = Judged("match", "why", 3, ("a", "b"))
        monkeypatch.setattr(proof, "call", lambda *_, **__: answer)
        matched = Evidence(Outcome.MATCH, "why", elements=3, provider="by steps")
        assert plugin.prove([BEFORE], with_material(tmp_path, said())) == {BEFORE: matched}
        answer = replace(answer, reason="")
        assert plugin.prove([BEFORE], with_material(tmp_path, said()))[BEFORE].reason == "a; b"


def _raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


class TestFunctions:
    """Functions of the model's code run again where it is at hand."""

    CONTENT = said(training=(FUNCTION,))

    def run(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, change: float | Exception = 0.0, **more: Any
    ) -> tuple[dict[Claim, Evidence], Harness]:
        """The proof where training's function gives what was recorded, and so much more."""
        at_hand = with_material(folder, self.CONTENT, **more)

        def run_chains(new: Material, *rest: Any) -> None:
            assert rest == (at_hand.subject, at_hand.spec.pipeline, at_hand.setting)
            if isinstance(change, Exception):
                raise change
            old = Material.read(folder / SAMPLES)
            assert new.samples == old.samples
            assert all(np.array_equal(new.tensors[f"raw/{at}"], old.tensors[f"raw/{at}"]) for at in (0, 1))
            new.tensors.update(old.tensors)
            new.tensors["before/training/1/1/value"] = new.tensors["before/training/1/1/value"] + change

        monkeypatch.setattr(proof, "run_chains", run_chains)
        return dict(plugin.prove([BEFORE, AFTER, ANSWERS[0]], at_hand)), at_hand

    def test_what_they_give_now_is_compared(
        self, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proven, _ = self.run(tmp_path, monkeypatch)
        assert [evidence.outcome for evidence in proven.values()] == [Outcome.MATCH] * 3
        assert [request.fresh.name for _, request in children.asked[:2]] == ["fresh.safetensors"] * 2

    def test_without_the_code_what_was_recorded_is(
        self, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proof, "run_chains", _raising(AssertionError("it must not run")))
        proven = plugin.prove([BEFORE], with_material(tmp_path, self.CONTENT, no_source="no --source"))
        assert proven[BEFORE].outcome is Outcome.MATCH and children.asked[0][1].fresh is None

    def test_without_functions_nothing_runs_again(
        self, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proof, "run_chains", _raising(AssertionError("it must not run")))
        assert plugin.prove([BEFORE], with_material(tmp_path, said()))[BEFORE].outcome is Outcome.MATCH

    def test_a_training_that_gives_something_else_proves_nothing(
        self, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proven, _ = self.run(tmp_path, monkeypatch, 0.5)
        reason = (
            "step 1 before the model, on sample 2, of training gives another value than was recorded: it draws at "
            "random, or was changed"
        )
        assert proven[BEFORE] == proven[AFTER] == Evidence(Outcome.MISMATCH, reason)
        assert proven[ANSWERS[0]].outcome is Outcome.INCONCLUSIVE and not children.asked

    def test_a_function_that_fails_is_told(
        self, tmp_path: Path, children: Children, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proven, _ = self.run(tmp_path, monkeypatch, UsageError("it failed"))
        assert proven[BEFORE] == proven[AFTER] == Evidence(Outcome.CRASHED, "it failed", stage="run")


class TestChanged:
    def both(self) -> tuple[Material, Material]:
        material = Material.of({"a": np.zeros(4)})
        material.keep("before", "training", 1, 0, {VALUE: np.ones((2, 2), "float32")})
        material.keep("before", "training", 2, 0, {"size": np.ones((2, 2), "float32"), "a/b": np.ones(2)})
        material.keep("before", "deployment", 1, 0, {VALUE: np.ones(3)})
        material.tensors["training/training/1/0/value"] = np.ones(3)
        return material, Material(material.samples, dict(material.tensors))

    def test_equal_values_are_not(self) -> None:
        assert _changed(*self.both()) == ""

    def test_another_value_of_training_is(self) -> None:
        old, new = self.both()
        new.keep("before", "training", 2, 0, {"size": np.full((2, 2), 1.1, "float32")})
        assert _changed(old, new) == "step 2 before the model, on sample 1,"

    def test_a_value_that_is_no_more_is(self) -> None:
        old, new = self.both()
        del new.tensors["before/training/1/0/value"]
        assert _changed(old, new) == "step 1 before the model, on sample 1,"

    def test_raw_samples_and_deployment_do_not_count(self) -> None:
        old, new = self.both()
        new.tensors = {name: value for name, value in new.tensors.items() if name.startswith("before/training/")}
        assert _changed(old, new) == ""


class TestNotes:
    def test_what_a_match_would_not_have_shown_is_told(self) -> None:
        at_hand = given(said())
        reason = "the samples would not show a mistake of: scale"
        at_hand.evidence.update(
            {
                AFTER: Evidence(Outcome.MATCH, reason, elements=1),
                BEFORE: Evidence(Outcome.MATCH, elements=1),
                ANSWERS[0]: Evidence(Outcome.MISMATCH, "another answer"),
                replace(BEFORE, kind="agreement"): Evidence(Outcome.MATCH, "of another kind", elements=1),
            }
        )
        assert plugin.notes(at_hand) == (f"{AFTER}: {reason}",)

    def test_functions_that_do_not_run_without_their_code_are_told(self) -> None:
        content = said((f"{FUNCTION}_b", "layout"), ("layout", f"{FUNCTION}_a"), ((f"{FUNCTION}_b",), ("argmax",)))
        assert plugin.notes(given(content)) == ()
        assert plugin.notes(given(content, no_source="no --source")) == (
            f"the pipeline has functions of the model's code ({FUNCTION}_a, {FUNCTION}_b), which are not run without "
            "--source: what they gave at the release was taken",
        )
        assert plugin.notes(given(said(), no_source="no --source")) == ()
        assert plugin.notes(given(None, no_source="no --source")) == ()
