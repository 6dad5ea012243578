"""The steps around a model are judged wherever the bundle is: by the stored one, whose code is not here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter import pipeline
from exporter.base.errors import UsageError
from exporter.bundle import infer
from exporter.bundle.manifest import sealed
from exporter.process.workers import Setting
from exporter.prove.judge.report import Report
from exporter.prove.proofs.base import Narrowing
from exporter.prove.proofs.samples import SAMPLES
from exporter.spec.read import validate
from exporter.steps.material import Material
from tests import faults
from tests.command import STORED

CONTENT: dict[str, Any] = json.loads((STORED / "manifest.json").read_bytes())["spec"]
#: Kinds that say nothing of the pipeline, and cost time.
REST = ("agreement", "sublayers", "weights", "interface", "pooled_bias")


def verified(bundle: Path) -> dict[str, tuple[str, str]]:
    report: Report = pipeline.verify(bundle, Setting(), Narrowing(engines=("onnxruntime",), without=REST))
    own = [claim for claim in report.verdict.plan if claim.kind == "pipeline"]
    return {str(claim): (report.verdict.of(claim).outcome.value, report.verdict.of(claim).reason) for claim in own}


def altered(to: Path, change: Callable[[dict[str, Any], Path], None]) -> Path:
    """The stored bundle with its spec or its samples changed, and sealed again."""
    bundle = faults.copied(STORED, to)
    content = json.loads((bundle / "manifest.json").read_bytes())
    change(content["spec"], bundle)
    for name, text in infer.documents(validate(content["spec"], "test")).items():
        (bundle / name).write_bytes(text)
    faults.reseal(bundle, content)
    return bundle


def test_the_chains_and_the_way_through_an_artifact_hold(tmp_path: Path) -> None:
    found = verified(faults.copied(STORED, tmp_path / "bundle"))
    assert {claim: outcome for claim, (outcome, _) in found.items()} == {
        "source/pipeline/preprocess": "match",
        "source/pipeline/postprocess": "match",
        "onnx/onnxruntime/pipeline/answer": "match",
    }


def test_another_step_of_deployment_is_named_and_no_answer_is_made(tmp_path: Path) -> None:
    def change(spec: dict[str, Any], bundle: Path) -> None:
        spec["pipeline"]["preprocess"]["deployment"][1] = {"normalize": {"mean": [0.5], "std": [0.5]}}
        spec["pipeline"]["postprocess"]["deployment"] = [{"topk": {"k": 2}}]

    found = verified(altered(tmp_path / "bundle", change))
    outcome, reason = found["source/pipeline/preprocess"]
    assert outcome == "mismatch" and "deployment's step 2 (normalize)" in reason and "likely cause: scale" in reason
    outcome, reason = found["source/pipeline/postprocess"]
    assert outcome == "mismatch" and "deployment's step 1 (topk)" in reason and "k=3 instead of 2" in reason
    assert found["onnx/onnxruntime/pipeline/answer"][0] == "inconclusive"


def _other_values(spec: dict[str, Any], bundle: Path) -> None:
    """Recorded values of training that its steps do not give, with deployment made to give them, too."""
    material = Material.read(bundle / SAMPLES)
    for name in list(material.tensors):
        if name.startswith("before/training/1/"):
            material.tensors[name] = material.tensors[name][::-1].copy()
    material.write(bundle / SAMPLES)


def _another_sample(spec: dict[str, Any], bundle: Path) -> None:
    material = Material.read(bundle / SAMPLES)
    material.tensors["raw/0"] = 255 - material.tensors["raw/0"]
    material.write(bundle / SAMPLES)


def test_a_file_of_samples_that_was_changed_is_found(tmp_path: Path) -> None:
    for name, change in (("values", _other_values), ("sample", _another_sample)):
        outcome, reason = verified(altered(tmp_path / name, change))["source/pipeline/preprocess"]
        assert outcome == "mismatch" and "are not what training's step 1 (resize) gives" in reason, name


def test_a_bundle_without_its_samples_lacks_what_its_spec_promises(tmp_path: Path) -> None:
    found = verified(altered(tmp_path / "bundle", lambda spec, bundle: (bundle / SAMPLES).unlink()))
    assert {outcome for outcome, _ in found.values()} == {"missing"}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({"training": ["decode"], "deployment": ["decod"]}, "unknown step 'decod'"),
        ({"training": "paddleklas:a.yml", "deployment": []}, "neither FAMILY:FILE"),
        ({"training": ["decode"]}, "deployment"),
    ],
)
def test_a_wrong_pipeline_is_refused_where_it_stands(steps: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        validate({**CONTENT, "pipeline": {"samples": ["a"], "preprocess": steps}}, "test")


def test_the_manifest_of_the_stored_bundle_is_sealed() -> None:
    content = json.loads((STORED / "manifest.json").read_bytes())
    assert sealed(content) == (STORED / "manifest.json").read_bytes()
    assert content["spec"]["pipeline"]["preprocess"]["training"][1] == "pictures:scaled"
