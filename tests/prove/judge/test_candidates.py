"""Files that other tools wrote, judged in the place of ours: by which engines, and under which names."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, TensorSpec, digest, save
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.judge import candidates
from exporter.prove.judge.candidates import digests, judge_file, refuse_engines, runs_of, with_candidates
from exporter.prove.judge.judge import About, judge
from exporter.prove.judge.report import REFERENCE, Report
from exporter.prove.proofs.base import Harness, Subject
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import Run
from exporter.spec.model import PrecisionSettings, Spec
from exporter.spec.read import validate
from tests.export.lower.passes.models import model
from tests.prove.compare.goldens import golden

WEIGHT = np.random.default_rng(1).standard_normal((3, 5)).astype("float32")
MODEL = """
import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 5])
        self.weight.set_value(np.random.default_rng(1).standard_normal((3, 5)).astype("float32"))

    def forward(self, x):
        return x @ self.weight
"""
OURS = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")
REPORT = Report("n", "1", Verdict(frozenset({OURS}), {OURS: Evidence(Outcome.MATCH, elements=3)}), 4.0)
ABOUT = About("n", "1", notes=("what is known of ours",))
SPEC = {
    "name": "n",
    "model": "candidate_net:Net",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3]}},
    "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
    "formats": ["onnx"],
    "engines": ["onnxruntime"],
    "precisions": {"fp32": {}, "int8": {}},
}


def product(path: Path, weight: Array, names: tuple[str, str, str]) -> Path:
    """A file of one matrix product, with names of its input, weight and output."""
    taken, stored, given = names
    node = helper.make_node("MatMul", [taken, stored], [given])
    proto = onnx.ModelProto.FromString(model([node], {taken: [None, 3]}, [given]))
    proto.graph.initializer.append(numpy_helper.from_array(weight, stored))
    onnx.save(proto, path)
    return path


def theirs(path: Path, factor: float = 1) -> Path:
    return product(path, WEIGHT * np.float32(factor), ("in", "their_weight", "out"))


@pytest.fixture
def subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """The model, the file that we made of it, and what eager gives in three cases."""
    monkeypatch.chdir(tmp_path)
    Path("candidate_net.py").write_text(MODEL)
    folder = tmp_path / "bundle"
    (folder / "onnx").mkdir(parents=True)
    product(folder / "onnx/model.onnx", WEIGHT, ("x", "w", "y"))
    own = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",), weights={"w": digest(WEIGHT)})
    low = Artifact("onnx", "int8", ("onnx-int8/model.onnx",), ("x",), ("y",), ("y",))
    cases, tensors = [], {}
    for seed, rows in enumerate((4, 4, 6)):
        name = f"batch={rows}#{seed}"
        tensors[f"{name}/input/x"] = x = np.random.default_rng([7, seed]).standard_normal((rows, 3)).astype("float32")
        cases.append(GoldenCase(name, {"batch": rows}, {"y": golden(x.astype("float64") @ WEIGHT, seed=seed)}, name))
    save(folder / "golden.safetensors", tensors)
    return Subject(
        spec=validate(SPEC, "test"),
        folder=folder,
        golden=folder / "golden.safetensors",
        outputs=(TensorSpec("y", "float32", ("batch", 5)),),
        artifacts={"onnx-int8": low, "onnx": own},
        parameters={"w": digest(WEIGHT)},
        recorded=tuple(cases),
    )


def test_a_file_is_run_by_the_engines_of_its_format_or_by_the_usual_one() -> None:
    both = Run("onnx", "fp32", "openvino"), Run("onnx", "fp32", "onnxruntime")
    assert runs_of("onnx", ["jit_load", "openvino", "onnxruntime"]) == both
    assert runs_of("onnx", ["jit_load"]) == runs_of("onnx", ()) == (Run("onnx", "fp32", "onnxruntime"),)
    assert runs_of("pir", ["onnxruntime"]) == (Run("pir", "fp32", "paddle_inference"),)
    assert runs_of("pdmodel", ()) == (Run("pdmodel", "fp32", "paddle_inference"),)
    assert runs_of("openvino", ()) == (Run("openvino", "fp32", "openvino"),)


def test_engines_that_run_no_such_file_are_refused_with_those_that_do() -> None:
    refuse_engines("onnx", [])
    refuse_engines("onnx", ["jit_load", "openvino"])
    with pytest.raises(UsageError, match="jit_load and paddle_inference run no file of the format 'onnx'") as caught:
        refuse_engines("onnx", ["jit_load", "paddle_inference"])
    assert caught.value.where == "--engines"
    able = str(caught.value.hint).removeprefix("name one of: ").split(", ")
    assert {"onnxruntime", "openvino"} <= {*able} and not {"jit_load", "paddle_inference"} & {*able}


def test_a_file_is_known_by_its_digest_and_by_that_of_its_numbers(tmp_path: Path) -> None:
    file, numbers = tmp_path / "a.json", tmp_path / "a.pdiparams"
    file.write_bytes(b"program")
    whole = [sha256(content).hexdigest() for content in (b"program", b"numbers")]
    assert digests(file) == whole[0]
    numbers.write_bytes(b"numbers")
    assert digests(file) == " and ".join(whole)
    alone = tmp_path / "a.onnx"
    alone.write_bytes(b"program")
    assert digests(alone) == whole[0]


def test_a_right_file_is_judged_as_ours_are(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In full precision alone, and whatever else the spec asks for."""
    seen: list[Spec] = []

    def heard(harness: Harness, about: About) -> Report:
        seen.append(harness.spec)
        return judge(harness, about)

    monkeypatch.setattr(candidates, "judge", heard)
    more = {"formats": ["pir", "onnx"], "candidates": [{"file": "another.onnx"}]}
    of = replace(subject, spec=validate({**SPEC, **more}, "test"))
    report = judge_file(of, theirs(tmp_path / "theirs.onnx"), runs_of("onnx", ()), ABOUT, Setting())
    assert report.verdict.passed, report.verdict.against
    (asked,) = seen
    assert (asked.formats, asked.precisions, asked.candidates) == (("onnx",), {"fp32": PrecisionSettings()}, ())
    assert {(claim.format, claim.precision) for claim in report.verdict.plan} == {("onnx", "fp32")}
    kinds = {claim.kind for claim in report.verdict.plan}
    assert kinds >= {"outputs", "interface", "weights", "process", "pooled_bias"}
    assert ABOUT.notes[0] in report.notes and not any("stores no tensor" in note for note in report.notes)


def test_a_file_without_a_tensor_of_the_model_is_proven_by_what_it_computes(subject: Subject, tmp_path: Path) -> None:
    """Not by its weights: they may be folded into others. And what is wrong is looked for."""
    file = theirs(tmp_path / "theirs.onnx", 1.25)
    report = judge_file(subject, file, runs_of("onnx", ()), ABOUT, Setting())
    assert not report.verdict.passed and "weights" not in {claim.kind for claim in report.verdict.plan}
    assert f"{file} stores no tensor of the model as it was: what it computes proves it" in report.notes
    assert [blame.claim.format for blame in report.blames] == ["onnx"]


def test_what_is_new_in_the_notes_on_a_candidate_is_told_under_its_name() -> None:
    foreign = replace(OURS, format="onnx", kind="weights", engine="", case="", output="")
    notes = ("known", f"{REFERENCE}net.json", "onnx/onnxruntime: slow", "its weights are random")
    other = replace(REPORT, verdict=Verdict(frozenset({foreign}), {}), notes=notes)
    joined = candidates._joined(replace(REPORT, notes=("known",)), other, ("onnx", "theirs"), validate(SPEC, "test"))
    assert joined.notes == ("known", "theirs/onnxruntime: slow", "theirs: its weights are random")
    assert joined.verdict.plan == {OURS, replace(foreign, format="theirs")}
    assert {*joined.verdict.evidence} == {OURS}, "what no proof gave evidence for is missing"


def test_what_is_to_blame_for_the_reference_is_not_told_of_a_candidate() -> None:
    foreign, source = replace(OURS, output="z"), replace(OURS, format="source", engine="static")
    blames = (Blame(source, "trace", "its trace"), Blame(foreign, "lower", "its file"))
    other = replace(REPORT, verdict=Verdict(frozenset({foreign, source}), {}), blames=blames)
    joined = candidates._joined(REPORT, other, ("onnx", "theirs"), validate(SPEC, "test"))
    assert joined.blames == (replace(blames[1], claim=replace(foreign, format="theirs")),)


def test_candidates_stand_under_their_names_beside_ours(subject: Subject, tmp_path: Path) -> None:
    theirs(tmp_path / "right.onnx")
    theirs(tmp_path / "bad.onnx", 1.25)
    until = {"until": "2099-01-01", "reason": "known since May"}
    described = {
        "candidates": [{"file": "right.onnx"}, {"file": "bad.onnx", "name": "wrong"}],
        "waivers": [{"claim": "wrong/onnxruntime/batch=6*", **until}, {"claim": "onnx/onnxruntime/batch=4*", **until}],
    }
    spec = validate({**SPEC, **described}, "test")
    report = with_candidates(replace(REPORT, notes=("ours",)), replace(subject, spec=spec), ABOUT, Setting())
    verdict = report.verdict
    assert {claim.format for claim in verdict.plan} == {"onnx", "right", "wrong"}
    assert verdict.of(OURS).outcome is Outcome.MATCH
    outputs = {claim for claim in verdict.plan if claim.kind == "outputs"}
    assert {verdict.of(claim).outcome for claim in outputs if claim.format == "right"} == {Outcome.MATCH}
    wrong = {claim.case: verdict.of(claim).outcome for claim in outputs if claim.format == "wrong"}
    assert {case for case, outcome in wrong.items() if outcome is Outcome.WAIVED} == {
        case for case in wrong if case.startswith("batch=6")
    }
    assert {wrong[case] for case in wrong if case.startswith("batch=4")} == {Outcome.MISMATCH}
    assert [blame.claim.format for blame in report.blames] == ["wrong"]
    assert report.notes[0] == "ours" and not any(ABOUT.notes[0] in note for note in report.notes)
    (lost,) = (note for note in report.notes if "stores no tensor" in note)
    assert lost.startswith("wrong: ")
