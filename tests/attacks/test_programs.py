"""Programs of a bundle that loop or allocate without end, reach outside, or know what was recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evals.hostile.bases import Base
from evals.hostile.bombs import bomb
from evals.hostile.graphs import GRAPHS, graph_of
from evals.hostile.seal import seal
from exporter import pipeline
from exporter.base.errors import BundleError
from exporter.bundle.open import open_bundle
from exporter.process.workers import Limits, Setting
from exporter.prove.verdict.claim import Outcome
from tests.command import STORED

TINY = {"seconds": 1.0, "megabytes": 128}


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """The stored bundle, as a release of today would record what its runs took."""
    base = Base("sound", Path(shutil.copytree(STORED, tmp_path / "sound")))
    content = base.manifest
    runs = [f"{variant}/{engine}" for variant in content["variants"] for engine in content["spec"]["engines"]]
    content["provenance"]["costs"] = dict.fromkeys(runs, TINY)
    seal(base.folder, content)
    return base


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("products", "4 s of processor time"),
        ("zeros of 2 GB", "384 MB more memory"),
        ("a loop that keeps", "384 MB more memory"),
    ],
)
def test_a_program_without_end_is_ended(base: Base, tmp_path: Path, name: str, said: str) -> None:
    folder = Path(shutil.copytree(base.folder, tmp_path / "bundle"))
    bomb(name)(base, folder, tmp_path)
    report = pipeline.verify(folder, Setting(Limits(code=None)))
    ended = [evidence for evidence in report.verdict.evidence.values() if said in evidence.reason]
    assert ended and {evidence.outcome for evidence in ended} <= {Outcome.TIMED_OUT, Outcome.CRASHED}
    assert report.verdict.word == "failed"


def test_it_is_ended_too_in_a_bundle_that_does_not_tell_what_its_runs_took(tmp_path: Path) -> None:
    base, folder = Base("silent", tmp_path / "silent"), tmp_path / "bundle"
    content = Base("stored", Path(shutil.copytree(STORED, base.folder))).manifest
    del content["provenance"]["costs"]
    seal(base.folder, content)
    shutil.copytree(base.folder, folder)
    bomb("products")(base, folder, tmp_path)
    report = pipeline.verify(folder, Setting(Limits(code=None)))
    assert any("4 s of processor time" in evidence.reason for evidence in report.verdict.evidence.values())
    assert report.verdict.word == "failed"


@pytest.mark.parametrize("name", [name for name in GRAPHS if "outside" in name or "function" in name])
def test_no_tensor_lies_outside_and_no_function_stands_for_an_operator(base: Base, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(base.folder, tmp_path / "bundle"))
    graph_of(name)(base, folder, tmp_path)
    with pytest.raises(BundleError, match=r"unsafe path|a function in the place|a\.stranger") as caught:
        open_bundle(folder)
    assert caught.value.where.endswith("model.onnx")


def test_a_program_that_is_right_only_where_it_was_recorded_is_found_by_the_others(base: Base, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(base.folder, tmp_path / "bundle"))
    graph_of("outputs that are right where recorded")(base, folder, tmp_path)
    verdict = pipeline.verify(folder, Setting(Limits(code=None))).verdict
    failed = {claim: evidence for claim, evidence in verdict.evidence.items() if evidence.outcome is not Outcome.MATCH}
    reasons = {str(claim): evidence.reason for claim, evidence in failed.items()}
    assert reasons.keys() == {"onnx/agreement", "onnx/onnxruntime/pipeline/answer"} and verdict.word == "failed"
    assert "on inputs that nobody recorded, 'scores' differs by 200% of its size" in reasons["onnx/agreement"]
