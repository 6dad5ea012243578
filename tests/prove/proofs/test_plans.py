"""What each proof plans from the spec, and what it makes of evidence that is there already. No engine runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exporter.base.numbers.golden import to_run
from exporter.base.numbers.partial import Partial
from exporter.base.tensors import TensorSpec, save
from exporter.engines.base import SourceModel
from exporter.export.lower.convert import PRECISIONS
from exporter.prove.judge.judge import PROOFS
from exporter.prove.proofs.base import Narrowing
from exporter.prove.proofs.promises import Promise, over_cases, promises, weighed
from exporter.prove.proofs.quantisation.noise import Suffering
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget
from tests.prove.proofs.subjects import (
    LABEL,
    LOW,
    PLAIN,
    SOURCE,
    artifact,
    budget,
    cases,
    claim,
    harness,
    spec,
    subject,
)

BOTH = artifact(), artifact("int8")
OF_FILES = {"engine": ""}


def match(**more: object) -> Evidence:
    return Evidence(Outcome.MATCH, elements=1, **more)  # type: ignore[arg-type]


class TestTheHarness:
    def test_a_bench_holds_all_that_engines_need(self) -> None:
        dims = {"batch": {"min": 1, "typical": 4, "max": 6}, "seq": {"min": 3, "typical": 3, "max": 3}}
        inputs = {"x": {"dtype": "float32", "shape": ["batch", 3]}, "m": {"dtype": "bool", "shape": ["seq"]}}
        inputs["m"]["values"] = "integers(0,2)"
        of = spec(dims=dims, inputs=inputs, seed=7, budget=3)
        costs = {"onnx/onnxruntime": {"seconds": 1.0, "megabytes": 128.0}}
        made = subject(*BOTH, of=of, device="gpu:0", checkpoint=Path("w.safetensors"), costs=costs)
        bench = made.bench()
        assert bench.costs == costs and subject().bench().costs == {}
        assert (bench.folder, bench.golden) == (Path("nowhere"), Path("nowhere/golden.safetensors"))
        assert bench.cases == to_run(made.recorded) and bench.controls == ()
        assert list(bench.artifacts) == ["onnx", "onnx-int8"] and (bench.device, bench.budget) == ("gpu:0", 3)
        assert (bench.outputs, bench.inputs) == (("y", "label"), ("x", "m"))
        assert bench.source == SourceModel(
            "a:b",
            Path("w.safetensors"),
            7,
            (TensorSpec("x", "float32", ("batch", 3)), TensorSpec("m", "bool", ("seq",))),
            ("y", "label"),
            {"seq": 3},
            of.dims,
        )
        without = subject().bench().source
        assert without is not None and without.checkpoint is None

    def test_of_one_case_alone_all_are_controls(self) -> None:
        made = subject(*BOTH, only="batch=6")
        assert [case.name for case in made.bench().cases] == ["batch=6", "batch=6:again", "batch=6:threads=2"]
        assert made.bench().controls == to_run(made.recorded)

    def test_it_knows_its_variants_its_cases_and_what_is_promised(self) -> None:
        of = harness(subject(*BOTH, of=spec(precisions=budget(min_top1=0.5)), missing=("batch=1",)))
        assert of.variants == (("onnx", "fp32"), ("onnx", "int8"))
        assert of.cases == (*(case.name for case in to_run(cases())), "batch=1")
        assert of.artifact(claim("size")) is BOTH[1] and of.run_of(claim("size")) == LOW
        assert of.promised("int8").min_top1 == 0.5 and of.promised("int8").max_size is not None, "a default"
        assert of.spec is of.subject.spec and of.witnesses is of.witnesses and of.witnesses.bench is of.bench
        assert not subject().passed, "unless somebody says so nobody has judged it"

    def test_what_was_left_out_is_said(self) -> None:
        assert str(Narrowing()) == ""
        assert str(Narrowing(("a", "b"), "batch=4", ("size", "speed"))) == (
            "only the engines a, b; only the case batch=4; without size, speed"
        )

    def test_a_run_gives_its_results_once_and_each_proof_takes_its_own(self) -> None:
        outputs = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")
        pooled, process = claim("pooled_bias", PLAIN, output="y"), claim("process", PLAIN)
        known = {PLAIN: dict.fromkeys((outputs, pooled, process), match())}
        known[SOURCE] = {claim("process", SOURCE): match(provider="source")}
        of = harness(subject(*BOTH), _results=known)
        assert PROOFS["process"].prove([process], of) == {process: match()}
        both = PROOFS["process"].prove([process, claim("process", SOURCE)], of)
        assert both == {claim("process", SOURCE): match(provider="source"), process: match()}
        assert PROOFS["pooled_bias"].prove([pooled], of) == {pooled: match()}
        assert PROOFS["outputs"].prove([outputs], of) == {outputs: match()}

    def test_what_is_not_known_yet_is_run_and_kept(self) -> None:
        """There are no files, so that the engine crashes; no layers are described, so that there is no noise."""
        of = harness(subject(*BOTH))
        (found,) = of.results([PLAIN])
        assert {evidence.outcome for evidence in found.values()} == {Outcome.CRASHED}
        assert of.results([PLAIN]) == [found] and of.results([PLAIN])[0] is found
        assert of.suffering(BOTH[1]) == ([], "", {}) and of.suffering(BOTH[1]) is of.suffering(BOTH[1])

    def test_a_planned_case_that_is_not_recorded_is_missing(self) -> None:
        here = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")
        gone = replace(here, case="batch=1")
        of = harness(subject(*BOTH, missing=("batch=1",)), _results={PLAIN: {here: match()}})
        found = PROOFS["outputs"].prove([here, gone], of)
        assert found[here] == match() and (found[gone].outcome, found[gone].stage) == (Outcome.MISSING, "plan")
        idle = harness(subject(*BOTH, missing=("batch=1",)))
        assert list(PROOFS["outputs"].prove([gone], idle)) == [gone] and not idle._results, "nothing runs for it"


class TestInputsThatDoNotVary:
    OF = spec(
        inputs={
            "x": {"dtype": "float32", "shape": ["batch", 3]},
            "kind": {"dtype": "int64", "shape": ["batch"], "values": "integers(0,1)"},
        }
    )
    OUTPUT = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")

    def notes(self, folder: Path, evidence: dict[Claim, Evidence], **more: object) -> list[str]:
        made = subject(*BOTH, of=self.OF, folder=folder, **more)
        kept: dict[str, np.ndarray] = {}
        for seed, case in enumerate(made.recorded):
            kept[f"{case.recorded}/input/x"] = np.random.default_rng(seed).standard_normal((4, 3)).astype("float32")
            kept[f"{case.recorded}/input/kind"] = np.zeros(4, "int64")
        save(made.golden, kept)
        return list(PROOFS["outputs"].notes(harness(made, evidence=evidence)))

    def test_are_told_where_an_output_matches(self, tmp_path: Path) -> None:
        worse = replace(self.OUTPUT, output="label")
        wrong = Evidence(Outcome.MISMATCH, "it is wrong", stage="compare")
        for evidence in ({self.OUTPUT: match()}, {self.OUTPUT: match(), worse: wrong}):
            (told,) = self.notes(tmp_path, evidence)
            assert told.startswith("input 'kind' is 0 in every case") and "integers(0,1) is exclusive" in told

    def test_are_not_asked_for_where_nothing_of_an_output_holds(self, tmp_path: Path) -> None:
        wrong = Evidence(Outcome.MISMATCH, "it is wrong", stage="compare")
        assert self.notes(tmp_path, {}) == self.notes(tmp_path, {self.OUTPUT: wrong}) == []
        assert self.notes(tmp_path, {claim("process", PLAIN): match()}) == []

    def test_of_one_case_alone_nothing_can_be_said(self, tmp_path: Path) -> None:
        assert self.notes(tmp_path, {self.OUTPUT: match()}, only="batch=4") == []


class TestOutputsOfWhichLittleIsAsked:
    def notes(self, folder: Path, count: int = 3, **marks: object) -> list[str]:
        """With these marks on an output of the second case, and on that of every case where they are of the file."""
        recorded = []
        for at, case in enumerate(cases()[:count]):
            own = {name: mark for name, mark in marks.items() if at == 1 or name in ("constant", "sized")}
            recorded.append(replace(case, outputs={**case.outputs, "y": replace(case.outputs["y"], **own)}))
        made = subject(*BOTH, folder=folder, recorded=tuple(recorded))
        values = {f"{case.recorded}/input/x": np.full((4, 3), at, "float32") for at, case in enumerate(recorded)}
        save(made.golden, values)
        evidence = {Claim("onnx", "fp32", "onnxruntime", "batch=4", "y"): match()}
        return list(PROOFS["outputs"].notes(harness(made, evidence=evidence)))

    def test_of_the_others_nothing_is_said(self, tmp_path: Path) -> None:
        assert self.notes(tmp_path) == []

    @pytest.mark.parametrize(
        ("marks", "said"),
        [
            ({"constant": True}, "output 'y': no input leads to it in any file, so it was judged as a constant"),
            ({"sized": True}, "output 'y': nothing but sizes leads to it in any file, and by these it was judged"),
            ({"settled": True}, "output 'y' is one number throughout in batch=4#2, whatever the inputs hold"),
        ],
    )
    def test_it_is_told_of_which_and_why(self, marks: dict[str, object], said: str, tmp_path: Path) -> None:
        assert self.notes(tmp_path, **marks) == [said]

    def test_one_case_shows_what_is_of_the_file(self, tmp_path: Path) -> None:
        assert any("no input leads to it in any file" in note for note in self.notes(tmp_path, 1, constant=True))

    def test_rows_without_an_answer_are_counted(self, tmp_path: Path) -> None:
        holed = np.ones((4, 5), "float32")
        assert self.notes(tmp_path, partial=Partial(holed, None)) == []
        holed[1, :3] = np.nan
        holed[2, 0] = np.inf
        (said,) = self.notes(tmp_path, partial=Partial(holed, None))
        assert said.startswith(
            "in case batch=4#2 eager itself gives NaN or infinity in y (4 of 20 numbers): that engines"
        )


class TestPlans:
    def test_every_output_of_every_case_by_every_run(self) -> None:
        planned = PROOFS["outputs"].plan(harness(subject(*BOTH, missing=("batch=1",))))
        assert len(planned) == 3 * (len(to_run(cases())) + 1) * 2
        assert Claim("source", "fp32", "eager", "batch=1", "label") in planned

    def test_the_pooled_errors_of_float_outputs_in_full_precision(self) -> None:
        planned = PROOFS["pooled_bias"].plan(harness(subject(*BOTH)))
        assert planned == {claim("pooled_bias", run, output="y") for run in (SOURCE, PLAIN)}

    def test_the_process_of_every_run_and_the_interface_of_every_variant(self) -> None:
        of = harness(subject(*BOTH))
        assert PROOFS["process"].plan(of) == {claim("process", run) for run in (SOURCE, PLAIN, LOW)}
        assert PROOFS["interface"].plan(of) == {claim("interface", run, **OF_FILES) for run in (PLAIN, LOW)}

    def test_size_and_overflow_of_low_precision_alone(self) -> None:
        of = harness(subject(*BOTH), SOURCE, PLAIN, LOW, Run("onnx", "fp16", "onnxruntime"))
        assert PROOFS["overflow"].plan(of) == {claim("overflow", **OF_FILES)}
        half = Run("onnx", "fp16", "onnxruntime")
        assert PROOFS["size"].plan(of) == {claim("size", run, **OF_FILES) for run in (LOW, half)}

    def test_sublayers_of_every_file_in_full_precision_where_the_source_is_at_hand(self) -> None:
        assert PROOFS["sublayers"].plan(harness(subject(*BOTH))) == {claim("sublayers", PLAIN)}
        assert PROOFS["sublayers"].plan(harness(subject(*BOTH, no_source="it is elsewhere"))) == frozenset()

    @pytest.mark.parametrize(
        ("bounds", "ratio", "share"),
        [({}, {"y"}, {"label"}), ({"min_snr_db": 20}, {"y"}, {"label"}), ({"min_top1": 0.5}, {"y"}, {"y", "label"})],
    )
    def test_a_ratio_of_floats_and_a_share_of_whole_numbers_or_where_it_is_promised(
        self, bounds: dict[str, float], ratio: set[str], share: set[str]
    ) -> None:
        of = harness(subject(*BOTH, of=spec(precisions=budget(**bounds))))
        assert PROOFS["snr_db"].plan(of) == {claim("snr_db", output=name) for name in ratio}
        assert PROOFS["top1"].plan(of) == {claim("top1", output=name) for name in share}
        assert PROOFS["top1"].promise and PROOFS["top1"].after == (OUTPUTS,)

    def test_a_ratio_that_is_promised_and_has_no_float_to_bound_is_missing(self) -> None:
        asked = harness(subject(*BOTH, of=spec(precisions=budget(min_snr_db=20)), outputs=(LABEL,)))
        assert PROOFS["snr_db"].plan(asked) == {claim("snr_db")}
        (found,) = PROOFS["snr_db"].prove([claim("snr_db")], asked).values()
        assert (found.outcome, found.stage) == (Outcome.MISSING, "plan") and "no output of floats" in found.reason
        by_default = harness(subject(*BOTH, outputs=(LABEL,)))
        assert PROOFS["snr_db"].plan(by_default) == frozenset()

    def test_weights_wherever_anything_names_tensors(self) -> None:
        both = {claim("weights", run, **OF_FILES) for run in (PLAIN, LOW)}
        bare = subject(*BOTH, parameters={})
        trained = spec(weights=None, checkpoint="w.safetensors")
        learned = spec(weights=None, recipe="recipes.digits:recipe")
        assert PROOFS["weights"].plan(harness(bare)) == frozenset()
        holding = replace(bare, artifacts={"onnx": artifact(weights={"w": "0"}), "onnx-int8": BOTH[1]})
        for of in (subject(*BOTH), replace(bare, spec=trained), replace(bare, spec=learned), holding):
            assert PROOFS["weights"].plan(harness(of)) == both


class TestOverCases:
    """A promise is weighed over the promised cases, from what became of each."""

    def evidence(self, **more: Evidence) -> dict[Claim, Evidence]:
        found = {
            name: Evidence(Outcome.MATCH, elements=20, metrics={"signal": 100.0, "noise": 0.01, "rows": 4, "agree": 4})
            for name in ("batch=4", "batch=4#2", "batch=6")
        }
        return {Claim("onnx", "int8", "onnxruntime", name, "y"): one for name, one in {**found, **more}.items()}

    def judged(self, evidence: dict[Claim, Evidence], kind: str = "snr_db", wanted: float = 30.0) -> Evidence:
        return over_cases(Promise(claim(kind, output="y"), wanted), to_run(cases()), evidence)

    def test_it_is_kept_without_the_repeated_runs(self) -> None:
        assert Promise(claim("snr_db"), 1.0).run == LOW
        found = self.judged(self.evidence())
        assert found.outcome is Outcome.MATCH and found.metrics == {"snr_db": pytest.approx(40.0)}

    @pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.MISSING])
    def test_what_did_not_come_has_the_stage_at_which_it_was_lost(self, outcome: Outcome) -> None:
        seen = self.evidence(**{"batch=4#2": Evidence(outcome, "lost", stage="load")})
        found = self.judged(seen)
        assert (found.outcome, found.stage, found.reason) == (outcome, "load", "case batch=4#2: lost")
        both = {**seen, **self.evidence(**{"batch=6": Evidence(outcome, "lost too", stage="run")})}
        assert self.judged(both).stage == "run" and self.judged({**both, **seen}).stage == "load"

    def test_a_case_without_any_evidence_is_missing(self) -> None:
        seen = self.evidence()
        del seen[Claim("onnx", "int8", "onnxruntime", "batch=6", "y")]
        found = self.judged(seen)
        assert (found.outcome, found.reason) == (Outcome.MISSING, "case batch=6: no evidence came")
        assert found.stage == "compare", "no case was lost at another stage"

    def test_what_failed_has_no_other_stage(self) -> None:
        broken = Evidence(Outcome.MISMATCH, "NaN", stage="run", elements=20)
        found = self.judged(self.evidence(**{"batch=4": broken}))
        assert (found.outcome, found.stage) == (Outcome.MISMATCH, "compare")


def test_a_claim_of_which_nothing_is_wanted_is_no_promise() -> None:
    """Its evidence would be a comparison with no bound; without any it is MISSING."""
    size, speed = claim("size"), claim("speed")
    asked = harness(subject(*BOTH, of=spec(precisions=budget(max_size=0.5))))
    found = promises([size, speed], asked, lambda of, one: of.max_size if one == size else None)
    assert found == [Promise(size, 0.5)]


def test_a_promise_counts_where_it_is_kept_and_no_impostor_keeps_it() -> None:
    broken = Evidence(Outcome.MISMATCH, "a loss of 0.1", elements=3, metrics={"loss": 0.1})
    assert weighed(False, broken, [("zeros would", True)]) is broken
    assert weighed(True, broken, [("zeros would", False)]) == replace(broken, outcome=Outcome.MATCH)
    fooled = weighed(True, broken, [("zeros would", False), ("the mean would", True), ("all would", True)])
    assert fooled == replace(broken, outcome=Outcome.VACUOUS, reason="a loss of 0.1; but the mean would")


class TestNoiseAndShares:
    def proved(self, noise: float, details: dict[str, object], **evidence: Evidence) -> dict[Claim, Evidence]:
        of = subject(
            artifact(), artifact("int8", details=details), of=spec(precisions=budget(min_snr_db=30, min_top1=0.5))
        )
        metrics = {"signal": 100.0, "noise": noise, "rows": 4.0, "agree": 4.0}
        known = {
            Claim("onnx", "int8", "onnxruntime", case.name, name): Evidence(Outcome.MATCH, elements=9, metrics=metrics)
            for case in to_run(cases())
            for name in ("y", "label")
        }
        made = harness(of, evidence=known, _noise={"onnx-int8": Suffering(["a note"], "the worst layer is fc", {})})
        ratios = PROOFS["snr_db"].prove(sorted(PROOFS["snr_db"].plan(made)), made)
        return dict(ratios) | dict(PROOFS["top1"].prove(sorted(PROOFS["top1"].plan(made)), made))

    def test_kept(self) -> None:
        found = self.proved(0.01, {})
        assert {str(name): one.outcome for name, one in found.items()} == {
            "onnx-int8/onnxruntime/snr_db/y": Outcome.MATCH,
            "onnx-int8/onnxruntime/top1/label": Outcome.MATCH,
            "onnx-int8/onnxruntime/top1/y": Outcome.MATCH,
        }
        assert "worst layer" not in found[claim("snr_db", output="y")].reason
        assert PROOFS["snr_db"].promise and PROOFS["snr_db"].after == (OUTPUTS,), "it weighs what they left"

    def test_broken_the_worst_layer_is_named(self) -> None:
        found = self.proved(1.0, {})[claim("snr_db", output="y")]
        assert found.outcome is Outcome.MISMATCH
        assert found.reason == "20.0 dB, at least 30 promised; the worst layer is fc"

    def test_a_ratio_that_nobody_promised_is_not_said_to_lack_floats(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A precision may come without a default for it."""
        monkeypatch.setattr(PRECISIONS["int8"], "budget", Budget(max_size=0.5))
        assert PROOFS["snr_db"].prove([claim("snr_db", output="y")], harness(subject(*BOTH))) == {}

    def test_notes_are_of_the_variants_in_low_precision_that_are_there(self) -> None:
        front = {"front": [{"kept": ["fc"], "bytes": 1500, "snr_db": 41.25, "speedup": 1.5}]}
        of = subject(artifact(details=front), artifact("int8", details=front))
        runs = (PLAIN, LOW, Run("pir", "int8", "paddle_inference_int8"))
        made = harness(
            of, *runs, _noise={"onnx-int8": Suffering(["a note"], "the worst", {}), "onnx": Suffering(["none"], "", {})}
        )
        assert list(PROOFS["snr_db"].notes(made)) == [
            "onnx-int8: the search's front: 1 layers kept: 1,500 bytes, 41.25 dB, x1.5 of fp32's speed",
            "a note",
        ]


def test_sizes_need_the_variant_in_full_precision(tmp_path: Path) -> None:
    for name, length in (("onnx", 100), ("onnx-int8", 30)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(b"x" * length)
    of = spec(precisions=budget(max_size=0.25))
    size = claim("size", **OF_FILES)
    assert PROOFS["size"].reads and PROOFS["size"].promise
    (found,) = PROOFS["size"].prove([size], harness(subject(*BOTH, of=of, folder=tmp_path))).values()
    assert (found.outcome, found.elements, found.metrics) == (Outcome.MISMATCH, 30, {"share": 0.3})
    assert found.reason == "30 bytes are 0.300 of fp32's 100, and at most 0.25 was promised"
    (kept,) = PROOFS["size"].prove([size], harness(subject(*BOTH, folder=tmp_path))).values()
    assert (kept.outcome, kept.provider) == (Outcome.MATCH, "by reading")
    (alone,) = PROOFS["size"].prove([size], harness(subject(BOTH[1], folder=tmp_path))).values()
    assert (alone.outcome, alone.stage) == (Outcome.MISSING, "plan")
    assert alone.reason == "the bundle holds no onnx in fp32 to compare it with"


def test_kinds_that_read_and_kinds_that_promise() -> None:
    """What only reads is proven though no engine runs; how well a promise is kept stands on every report."""
    assert {kind for kind in PROOFS.names() if PROOFS[kind].reads} == {"interface", "overflow", "size", "weights"}
    promising = {"metric", "overflow", "size", "snr_db", "speed", "top1"}
    assert {kind for kind in PROOFS.names() if PROOFS[kind].promise} == promising
    assert PROOFS["process"].notes(harness(subject())) == ()
