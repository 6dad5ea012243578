"""What is small at the output is large at its own sublayer: within the budget, and failed all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.bundle.drill.inside import Inside
from exporter.bundle.drill.requests import Subject
from exporter.bundle.drill.run import observed
from exporter.bundle.layout import GOLDEN
from exporter.bundle.manifest import sealed
from exporter.bundle.open import open_bundle, recorded_spec
from exporter.bundle.source import source_in
from exporter.engines.kinds.onnxruntime import plugin as onnxruntime
from exporter.export.lower.stored import stored_digests
from exporter.process.workers import Setting
from tests.command import environment, exporter
from tests.conftest import working_folder
from tests.faults import _change, copied, float_weights, reseal

MISTREATING = Path(__file__).parents[2] / "vacuity/mistreating"
SPEC = """
name: quiet
version: "1"
model: models.quiet:quiet
weights: factory
inputs:
  x: {dtype: float32, shape: [batch, 6]}
dims: {batch: {min: 1, typical: 2, max: 3}}
formats: [pir, onnx]
engines: [jit_load, onnxruntime]
device: cpu
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with the released bundle, and a copy with one weight wrong and every digest made right again."""
    work = working_folder(tmp_path_factory.mktemp("narrow") / "work")
    (work / "quiet.yaml").write_text(SPEC)
    done = exporter("release", "quiet.yaml", cwd=work)
    assert done.code == 0, done.out + done.err
    wrong = copied(work / "artifacts/quiet/1", work / "wrong")
    for name in ("pir/model.pdiparams", "onnx/model.onnx"):
        weight = next(one for one in float_weights(wrong / name) if one.shape == (6, 16))
        _change(wrong / name, weight, _one_more)
    content = json.loads((wrong / "manifest.json").read_bytes())
    for variant in content["variants"].values():
        variant["weights"] = stored_digests(variant["files"], wrong)
        own = {name: variant["weights"][stored] for stored, name in variant["origins"].items()}
        content["parameters"] |= own
    (wrong / "manifest.json").write_bytes(sealed(content))
    reseal(wrong)
    return work


def _one_more(value: np.ndarray) -> np.ndarray:
    changed = value.copy()
    changed[0, 0] *= 1.4
    return changed


def told(bundle: str, cwd: Path, *more: str) -> tuple[int, Any]:
    done = exporter("verify", bundle, "--json", *more, cwd=cwd)
    return done.code, done.json()


def test_a_sublayer_fails_a_claim_that_is_within_the_budget(work: Path) -> None:
    code, report = told("wrong", work, "--source", ".")
    assert (code, report["verdict"]) == (1, "failed")
    failed = [one for one in report["checks"] if one["outcome"] != "match"]
    assert {(one["kind"], one["engine"]) for one in failed} == {
        ("sublayers", "jit_load"),
        ("sublayers", "onnxruntime"),
    }
    for one in failed:
        assert "within the budget at the output, but the error ratio of its sublayer first is" in one["reason"]
    worst = {one["engine"]: one["error_ratio"] for one in report["checks"] if one["kind"] == "outputs"}
    assert all(ratio <= 4 for ratio in worst.values())
    for one in report["blame"]:
        assert (one["path"], one["class"]) == ("first", "Linear") and one["stage"].startswith("lower")


def test_without_the_source_only_the_outputs_speak(work: Path) -> None:
    code, report = told("wrong", work)
    assert (code, report["verdict"], report["blame"]) == (0, "passed", [])
    assert any("no sublayer was compared: --source DIR" in note for note in report["notes"]), "it says how"


def hidden(work: Path, *engines: str) -> Any:
    """An ONNX Runtime that refuses to put out more than the outputs."""
    env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT="shows nothing inside")
    done = exporter("verify", "wrong", "--json", "--engines", ",".join(engines), "--source", ".", cwd=work, env=env)
    report = done.json()
    return done.code, [check for check in report["checks"] if check["kind"] == "sublayers"], report["notes"]


def test_where_one_engine_shows_nothing_inside_another_one_does(work: Path) -> None:
    code, checks, _ = hidden(work, "onnxruntime", "openvino")
    assert code == 1 and {check["engine"]: check["outcome"] for check in checks} == {
        "onnxruntime": "mismatch",
        "openvino": "mismatch",
    }


def test_where_none_does_all_cases_together_speak_and_the_report_says_so(work: Path) -> None:
    _, (check,), notes = hidden(work, "onnxruntime")
    assert check["outcome"] == "match" and "the errors of all cases together do not add up" in check["reason"]
    assert any("onnx/onnxruntime/sublayers: the sublayers were not compared" in note for note in notes)


def test_a_sound_bundle_passes(work: Path) -> None:
    code, report = told("artifacts/quiet/1", work, "--source", ".")
    assert (code, report["verdict"], report["blame"]) == (0, "passed", [])


def test_a_drill_looks_inside_likewise(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    bundle = open_bundle(work / "artifacts/quiet/1")
    source = source_in(work, bundle.manifest.provenance, recorded_spec(bundle.manifest))
    witness, doubt = observed(bundle, source, tmp_path, Setting())
    assert doubt == ""
    manifest = bundle.manifest
    subject = Subject(
        variant="onnx",
        artifact=manifest.variants["onnx"].artifact(),
        folder=bundle.folder,
        golden=bundle.folder / GOLDEN,
        cases=manifest.cases[:1],
        budget=4.0,
        layer={},
        older=None,
        batch=0,
        witness=witness,
    )
    inside = Inside(subject, "cpu", onnxruntime)
    assert inside.begin(bundle.folder) == "" and inside.look(bundle.folder) == ""
    assert inside.look(work / "wrong").startswith("first has an error ratio of ")
    alarmed = Inside(subject, "cpu", onnxruntime)
    assert alarmed.begin(work / "wrong").startswith("a false alarm: first")
    assert alarmed.look(work / "wrong") == "", "what raises a false alarm proves nothing"
    assert Inside(replace(subject, witness=None), "cpu", onnxruntime).look(work / "wrong") == ""
