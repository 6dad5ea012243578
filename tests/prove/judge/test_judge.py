"""The judge without any engine: what is planned, in which order, what is idle, and what the report says first."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, TensorSpec
from exporter.engines.base import Settings
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.judge import judge as judged_by
from exporter.prove.judge.judge import PROOFS, About, blame, harness_of, judge, planned
from exporter.prove.judge.report import GRAVITY, UNTRAINED, Report, unlike_bits
from exporter.prove.proofs.base import Narrowing, Subject
from exporter.prove.proofs.kinds.process import Process
from exporter.prove.proofs.quantisation.noise import LayerNoise, Suffering
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import Run
from exporter.spec.read import validate
from tests.prove.compare.goldens import golden
from tests.prove.proofs.test_weights import TRAINED, VALUES, stored

RUN = Run("onnx", "fp32", "onnxruntime")
RNG = np.random.default_rng(0)
ONNX = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",), {"opset_asked": 17, "opset": 17})


def cases(values: list[Array], **more: Any) -> tuple[GoldenCase, ...]:
    return tuple(
        GoldenCase(f"batch=4#{at}", {"batch": 4}, {"y": golden(value, seed=at, **more)}, f"batch=4#{at}")
        for at, value in enumerate(values)
    )


def subject(recorded: tuple[GoldenCase, ...], *artifacts: Artifact, spec: dict[str, Any] | None = None) -> Subject:
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3]}},
        "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
        "formats": ["onnx"],
    }
    return Subject(
        spec=validate({**content, **(spec or {})}, "test"),
        folder=Path("nowhere"),
        golden=Path("nowhere/golden.safetensors"),
        outputs=(TensorSpec("y", "float32", ("batch", 5)),),
        artifacts={artifact.variant: artifact for artifact in artifacts},
        parameters={"w": "0"},
        recorded=recorded,
    )


SOUND = cases([RNG.standard_normal((4, 5)) for _ in range(3)])
ALIKE = cases([np.ones((4, 5))] * 3)


def report(of: Subject, about: About | None = None, narrowing: Narrowing | None = None, *runs: Run) -> Report:
    return judge(harness_of(of, runs or (RUN,), Setting(), narrowing), about or About("n", "1.0"))


def test_what_the_bundle_lacks_is_missing_and_nothing_runs() -> None:
    found = report(subject(SOUND))
    assert found.verdict.word == "failed" and set(found.verdict.counts) >= {"missing"}
    assert found.verdict.counts["missing"] == len(found.verdict.plan) > len(SOUND)
    evidence = found.verdict.of(Claim("onnx", "fp32", "onnxruntime", "batch=4#0", "y"))
    assert (evidence.reason, evidence.stage) == ("the spec asks for onnx and the bundle holds none", "plan")
    kinds = {claim.kind for claim in found.verdict.plan}
    assert kinds >= {"outputs", "pooled_bias", "process", "weights", "interface"}


def test_a_case_that_was_left_out_on_the_bundle_s_word_is_missing() -> None:
    """Its artifact is there; what is planned of other cases is not missing."""
    word = {"batch=4#1": "eager refused it"}
    verdict = report(
        replace(subject(ALIKE, ONNX), unshown=word), None, Narrowing(without=("weights", "interface"))
    ).verdict
    missing = {claim: verdict.of(claim) for claim in verdict.plan if verdict.of(claim).outcome is Outcome.MISSING}
    assert {claim.case for claim in missing} == {"batch=4#1"}
    for evidence in missing.values():
        assert "nothing but the bundle's word says why (eager refused it)" in evidence.reason
        assert evidence.stage == "plan"


def test_each_case_and_its_repetitions_are_planned() -> None:
    planned = {claim.case for claim in report(subject(SOUND)).verdict.plan if claim.kind == "outputs"}
    assert planned == {*(case.name for case in SOUND), "batch=4#0:again", "batch=4#0:threads=2"}


def test_kinds_may_be_left_out_and_the_verdict_is_on_the_rest() -> None:
    some = Narrowing(without=("outputs", "sublayers"))
    found = report(subject(SOUND), None, some)
    assert "outputs" not in {claim.kind for claim in found.verdict.plan}
    assert found.notes[0] == "partial: without outputs, sublayers; a verdict on that is none on the rest"
    assert found.verdict.narrowed == "without outputs, sublayers"
    assert not any(note.startswith("partial") for note in report(subject(SOUND)).notes)
    with pytest.raises(UsageError, match="nothing is left to prove") as caught:
        report(subject(SOUND), None, Narrowing(without=tuple(PROOFS.names())))
    assert caught.value.where == "--without"
    with pytest.raises(UsageError, match="'output'"):
        harness_of(subject(SOUND), (RUN,), Setting(), Narrowing(without=("output",)))


@pytest.mark.parametrize("without", [(), ("outputs",)])
def test_a_proof_stands_behind_those_whose_evidence_it_needs(without: tuple[str, ...]) -> None:
    ordered = [proof.kind for proof in judged_by._in_order(without)]
    assert sorted((*ordered, *without)) == sorted(proof.kind for _, proof in PROOFS.all())
    for at, kind in enumerate(ordered):
        assert not set(PROOFS[kind].after) & set(ordered[at + 1 :]), kind
    assert any(PROOFS[kind].after for kind in ordered)


def test_what_is_planned_of_recorded_cases_is_what_a_report_holds() -> None:
    """Of a case that was left out nothing can be reported."""
    of, left_out = subject(ALIKE, ONNX), ALIKE[1].name
    plan = planned(harness_of(of, (RUN,), Setting()))
    assert {claim.case for claim in plan} > {case.name for case in ALIKE}
    assert plan == report(replace(of, artifacts={})).verdict.plan
    without = planned(harness_of(replace(of, missing=(left_out,)), (RUN,), Setting()))
    assert without == {claim for claim in plan if claim.case != left_out} != plan


class _Behind(Process):
    kind = "behind"
    after = ("process",)


class _Further(Process):
    kind = "a further one"
    after = ("behind", "left out")


def test_the_order_is_that_of_the_needs_and_not_of_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin may need what is called like something that comes later."""
    found = {"a further one": _Further(), "behind": _Behind(), "process": Process()}

    class Registered:
        def all(self) -> list[tuple[str, Process]]:
            return list(found.items())

    monkeypatch.setattr(judged_by, "PROOFS", Registered())
    assert [proof.kind for proof in judged_by._in_order(())] == ["process", "behind", "a further one"]
    assert [proof.kind for proof in judged_by._in_order(("process",))] == ["behind", "a further one"]


class TestIdle:
    """Where eager itself would not pass by its goldens no engine is run; what only reads is proven all the same."""

    def harness(self, recorded: tuple[GoldenCase, ...] = ALIKE, **more: Any) -> Any:
        return harness_of(replace(subject(recorded, ONNX), **more), (RUN,), Setting())

    def test_outputs_that_are_alike_leave_a_doubt(self) -> None:
        doubts = judged_by._idle(self.harness())
        assert {doubt.output for doubt in doubts} == {"y"}
        assert judged_by._idle(self.harness(SOUND)) == ()

    @pytest.mark.parametrize("more", [{"passed": True}, {"only": "batch=4#0"}, {"recorded": ALIKE[:1]}])
    def test_of_a_bundle_that_passed_of_one_case_and_of_one_record_it_is_not_asked(self, more: dict[str, Any]) -> None:
        assert judged_by._idle(self.harness(**more)) == ()

    def test_two_records_are_enough(self) -> None:
        assert judged_by._idle(self.harness(ALIKE[:2]))

    def test_what_is_waived_is_no_doubt(self) -> None:
        waiver = {"claim": "*", "reason": "known and accepted", "until": date.today() + timedelta(days=9)}
        waived = subject(ALIKE, ONNX, spec={"waivers": [waiver]})
        assert judged_by._idle(harness_of(waived, (RUN,), Setting())) == ()

    def test_no_engine_runs_and_each_claim_says_why(self) -> None:
        found = report(subject(ALIKE, ONNX), None, Narrowing(without=("weights", "interface")))
        assert found.verdict.word == "inconclusive"
        assert set(found.verdict.counts) and found.verdict.counts["inconclusive"] == len(found.verdict.plan)
        assert any(note.startswith("no engine was run: eager itself would not pass") for note in found.notes)

    def test_what_is_missing_stays_missing(self) -> None:
        found = report(subject(ALIKE), None, None)
        assert found.verdict.counts["missing"] == len(found.verdict.plan)


def test_what_a_report_says_of_its_subject() -> None:
    about = About("digits", "2.0", "abc", notes=("a note",), methods=("float64",), objections=("it failed before",))
    late = {"claim": "*", "reason": "known and accepted", "until": date.today() - timedelta(days=9)}
    found = report(subject(SOUND, spec={"waivers": [late], "budget": 3}), about)
    assert (found.name, found.version, found.digest, tuple(found.methods)) == ("digits", "2.0", "abc", ("float64",))
    assert found.budget == 3 and found.verdict.objections == ("it failed before",)
    assert "a note" in found.notes and any("has expired" in note for note in found.notes)
    assert found.waivers[0]["claim"] == "*" and found.waivers[0]["until"] == str(late["until"])
    assert [note for note in found.notes if note == UNTRAINED] == [UNTRAINED]
    said = replace(about, notes=(UNTRAINED,))
    assert [note for note in report(subject(SOUND), said).notes if note == UNTRAINED] == [UNTRAINED]
    trained = subject(SOUND, spec={"weights": None, "checkpoint": "a.safetensors"})
    assert UNTRAINED not in report(trained).notes


def test_what_is_waived_today_is_waived_in_the_report() -> None:
    waiver = {"claim": "*", "reason": "known and accepted", "until": date.today() + timedelta(days=9)}
    found = report(subject(SOUND, spec={"waivers": [waiver]}))
    waived = {claim for claim in found.verdict.plan if found.verdict.of(claim).outcome is Outcome.WAIVED}
    assert {claim.kind for claim in found.verdict.plan - waived} == {"interface", "weights"}, "which are to be named"
    assert len(waived) > 5 and not found.verdict.passed


@pytest.mark.parametrize(
    ("formats", "source", "noted"),
    [
        (["pdmodel"], "eager", True),
        (["pdmodel", "pir"], "eager", False),
        (["pdmodel"], "static", False),
    ],
)
def test_that_files_are_compared_with_eager_alone_is_noted(formats: list[str], source: str, noted: bool) -> None:
    runs = Run("source", "fp32", source), Run("pdmodel", "fp32", "paddle_inference")
    engines = {"formats": formats, "engines": ["paddle_inference"]}
    nothing_runs = Narrowing(without=("weights", "interface"))
    notes = report(subject(ALIKE, spec=engines), None, nothing_runs, *runs).notes
    assert any("each file is compared with eager itself" in note for note in notes) is noted


def test_how_well_promises_are_kept_is_told() -> None:
    def claim(kind: str, output: str = "") -> Claim:
        return Claim("onnx", "int8", "onnxruntime", output=output, kind=kind)

    def match(reason: str) -> Evidence:
        return Evidence(Outcome.MATCH, reason, elements=1)

    evidence = {
        claim("top1", "z"): match("3 of 3 agree"),
        claim("snr_db", "y"): match("40 dB"),
        claim("size"): Evidence(Outcome.MISMATCH, "too large"),
        claim("speed"): match(""),
        claim("outputs"): match("not a promise"),
    }
    assert judged_by._kept({"top1", "snr_db", "size", "speed"}, evidence) == [
        "onnx-int8/onnxruntime/snr_db/y: 40 dB",
        "onnx-int8/onnxruntime/top1/z: 3 of 3 agree",
    ]


FRONT = {"kept": [], "bytes": 2048, "snr_db": 31.5}
TOLD = "onnx-int8: the search's front: no layer kept: 2,048 bytes, 31.5 dB"


@pytest.mark.parametrize(("recorded", "told"), [(SOUND, True), (ALIKE, False)])
def test_what_the_proofs_have_to_note_is_told_unless_nothing_was_run(
    recorded: tuple[GoldenCase, ...], told: bool
) -> None:
    low = replace(ONNX, precision="int8", details={"front": [FRONT]})
    others = tuple(kind for kind in PROOFS.names() if kind != "snr_db")
    of_both = subject(recorded, ONNX, low, spec={"precisions": {"fp32": {}, "int8": {}}})
    found = report(
        of_both, About("n", "1", notes=("first",)), Narrowing(without=others), replace(RUN, precision="int8")
    )
    assert (TOLD in found.notes) == told
    assert found.notes.index("first") == len(found.notes) - 2, "then what was found out"
    assert any(note.startswith("no engine was run") for note in found.notes) != told


def test_what_was_judged_before_counts_no_more() -> None:
    harness = harness_of(subject(SOUND), (RUN,), Setting())
    harness.evidence[Claim("pir", "fp32", kind="weights")] = Evidence(Outcome.MATCH, elements=1)
    assert judge(harness, About("n", "1")).verdict.counts["match"] == 0


def test_the_noise_that_a_proof_has_measured_stands_in_the_report() -> None:
    harness = harness_of(subject(SOUND), (RUN,), Setting())
    layers = {"conv2d_0": LayerNoise(16.9, None)}
    harness._noise.update({name: Suffering([], "", layers) for name in ("pdmodel-int8", "onnx-int8")})
    harness._noise["onnx-fp16"] = Suffering([], "", {})  # of which none was measured
    found = judge(harness, About("n", "1")).noise
    assert list(found.items()) == [("onnx-int8", layers), ("pdmodel-int8", layers)]


def test_of_what_the_bundle_lacks_the_source_is_no_part() -> None:
    here, lacking = Claim("onnx", "fp32", kind="weights"), Claim("pir", "fp32", kind="weights")
    source = Claim("source", "fp32", "eager", "batch=4", "y")
    absent = dict(judged_by._absent(frozenset([here, lacking, source]), subject(SOUND, ONNX)))
    assert list(absent) == [lacking]
    assert (absent[lacking].outcome, absent[lacking].stage) == (Outcome.MISSING, "plan")


def test_bits_that_differ_and_settings_that_do_are_notes() -> None:
    evidence = {
        Claim(format, "fp32", engine, "batch=4", "y"): Evidence(
            Outcome.MATCH, elements=1, metrics={"error_ratio": 1.0}, under=Settings({"threads": 2}, {"threads": 1})
        )
        for format, engine in (("pir", "jit_load"), ("onnx", "onnxruntime"))
    }
    raised = replace(ONNX, details={"opset_asked": 11, "opset": 16})
    harness = harness_of(subject(SOUND, raised), (RUN,), Setting())
    about = About("n", "1", unlike="the CPU is another one")
    notes = judged_by._report(harness, about, Verdict(frozenset(evidence), evidence), ["said"]).notes
    assert list(notes) == [
        UNTRAINED,
        "said",
        "pir/jit_load: 1 of its results differ from eager in bits, as they may, since the CPU is another one; "
        "the error ratio judged them",
        "onnx: opset 11 was asked for, and the converter wrote opset 16",
        "onnx/onnxruntime: threads 2 was asked for and 1 is in effect",
        "pir/jit_load: threads 2 was asked for and 1 is in effect",
    ]


def test_each_failed_run_in_full_precision_is_blamed_the_source_first_then_as_the_variants_come() -> None:
    """A crash leaves no values to compare, so that nothing runs for it."""
    pir = Artifact("pir", "fp32", ("pir/model.json",), ("x",), ("y",), ("y",))
    of_three = subject(SOUND, pir, ONNX, replace(ONNX, precision="int8"), spec={"formats": ["pir", "onnx", "pdmodel"]})
    failed = [
        Run("onnx", "fp32", "openvino"),
        Run("pdmodel", "fp32", "paddle_inference"),
        Run("pir", "fp32", "jit_load"),
        Run("source", "fp32", "static"),
        Run("onnx", "int8", "onnxruntime"),
        Run("onnx", "fp32", "onnxruntime"),
    ]
    evidence = {
        Claim(run.format, run.precision, run.engine, "batch=4#0", "y"): Evidence(
            Outcome.CRASHED, "it died", stage="run"
        )
        for run in failed
    }
    whole = Report("n", "1", Verdict(frozenset(evidence), evidence), 4.0, notes=("a note",))
    blamed = blame(harness_of(of_three, failed, Setting()), whole, None)
    assert [(one.claim.variant, one.claim.engine) for one in blamed.blames] == [
        ("source", "static"),
        ("pir", "jit_load"),
        ("onnx", "onnxruntime"),
        ("onnx", "openvino"),
    ]
    assert blamed.notes == ("a note",) and "no value came to compare: crashed (it died)" in blamed.blames[0].reason


# ---- the report ----------------------------------------------------------------------------------------------


def of(*outcomes: Outcome) -> Report:
    claims = [Claim("onnx", "fp32", "onnxruntime", f"batch={at}", "y") for at in range(len(outcomes))]
    evidence = {
        claim: Evidence(outcome, "" if outcome is Outcome.MATCH else f"reason {at}", elements=1)
        for at, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True))
    }
    return Report("n", "1", Verdict(frozenset(claims), evidence), 4.0)


def test_the_worst_come_first_then_the_order_of_the_claims() -> None:
    found = of(*Outcome, *Outcome)
    assert [evidence.outcome for _, evidence in found.rows()] == [word for word in GRAVITY for _ in (0, 1)]
    assert set(GRAVITY) == set(Outcome)
    for first, second in zip(found.rows()[::2], found.rows()[1::2], strict=True):
        assert first[0] < second[0]


def test_the_first_reason_is_that_of_the_worst() -> None:
    assert of(Outcome.MATCH).first_reason() == ""
    assert of(Outcome.MATCH, Outcome.INCONCLUSIVE, Outcome.MISMATCH).first_reason() == (
        "onnx/onnxruntime/batch=2/y: mismatch (reason 2)"
    )
    assert of(Outcome.WAIVED).first_reason() == "no output of onnx was shown to be right"
    matched = of(Outcome.MATCH)
    objected = replace(matched, verdict=replace(matched.verdict, objections=("it failed before",)))
    assert objected.first_reason() == "it failed before"


def test_results_of_paddle_s_kernels_that_differ_in_bits_are_counted_by_run() -> None:
    def seen(engine: str, case: str, **more: Any) -> tuple[Claim, Evidence]:
        kind = more.pop("kind", "outputs")
        told = {"elements": 1, "metrics": {"error_ratio": 1.0}, **more}
        return Claim("pir", "fp32", engine, case, "y", kind), Evidence(Outcome.MATCH, **told)

    evidence = dict(
        [
            seen("jit_load", "batch=1"),
            seen("jit_load", "batch=2"),
            seen("jit_load", "batch=3", bit_equal=True),
            seen("jit_load", "batch=4", metrics={}),
            seen("jit_load", "batch=4:threads=2"),
            seen("jit_load", "", kind="pooled_bias"),
            seen("onnxruntime", "batch=1"),
            seen("eager", "batch=1"),
        ]
    )
    verdict = Verdict(frozenset(evidence), evidence)
    assert unlike_bits(verdict, {"jit_load", "eager"}) == [
        "pir/eager: 1 of its results differ from eager in bits, yet it runs Paddle's own kernels; "
        "the error ratio judged them",
        "pir/jit_load: 2 of its results differ from eager in bits, yet it runs Paddle's own kernels; "
        "the error ratio judged them",
    ]
    (note,) = unlike_bits(verdict, {"jit_load"}, "the CPU is another one")
    assert "as they may, since the CPU is another one" in note


def test_what_only_reads_is_proven_and_told(tmp_path: Path) -> None:
    artifact = stored(tmp_path, VALUES)
    others = tuple(kind for kind in PROOFS.names() if kind != "weights")
    of_files = replace(subject(SOUND, artifact), folder=tmp_path, parameters=TRAINED)
    found = report(of_files, None, Narrowing(without=others))
    (weights,) = found.verdict.plan
    assert found.verdict.of(weights).outcome is Outcome.MATCH and found.verdict.of(weights).elements == 18
    assert found.verdict.word == "failed" and found.first_reason() == "no output of onnx was shown to be right"
    assert not any("tensors by name" in note for note in found.notes), "it is no promise"
    wrong = replace(of_files, parameters={**TRAINED, "layer.a": TRAINED["layer.b"]})
    assert report(wrong, None, Narrowing(without=others)).verdict.of(weights).outcome is Outcome.MISMATCH


def test_where_no_engine_is_run_the_files_are_read_all_the_same(tmp_path: Path) -> None:
    artifact = stored(tmp_path, VALUES)
    others = tuple(kind for kind in PROOFS.names() if kind not in ("weights", "outputs"))
    of_files = replace(subject(ALIKE, artifact), folder=tmp_path, parameters=TRAINED)
    found = report(of_files, None, Narrowing(without=others)).verdict
    assert {claim.kind: found.of(claim).outcome for claim in found.plan} == {
        "weights": Outcome.MATCH,
        "outputs": Outcome.INCONCLUSIVE,
    }


def test_a_promise_that_is_kept_is_told_with_how_well(tmp_path: Path) -> None:
    low = {name: value.astype("float16") for name, value in VALUES.items()}
    artifacts = stored(tmp_path, VALUES), stored(tmp_path, low, "onnx-fp16", precision="fp16")
    precisions = {"precisions": {"fp32": {}, "fp16": {"budget": {"max_size": 0.9}}}}
    others = tuple(kind for kind in PROOFS.names() if kind != "size")
    of_files = replace(subject(SOUND, *artifacts, spec=precisions), folder=tmp_path)
    found = report(of_files, None, Narrowing(without=others), RUN, replace(RUN, precision="fp16"))
    assert [note for note in found.notes if note.startswith("onnx-fp16/size: ")], found.notes
