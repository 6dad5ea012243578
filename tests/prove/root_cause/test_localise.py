"""Faults come in at every stage, and are found there: through the command line, with real engines."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.finds.gate.catalogue import FINDS
from evals.finds.gate.show import bundle_of
from exporter.base.tensors import TensorSpec, load, save
from exporter.engines.base import SourceModel
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.locate import locate, locate_eager
from exporter.prove.root_cause.repro import folder_name
from exporter.prove.root_cause.witness import Witness, observe
from exporter.prove.verdict.claim import Claim
from tests.command import ROOT, environment, exporter, refused
from tests.conftest import working_folder
from tests.faults import copied, reseal, scale_tensor

BENT = """
name: bent
version: "1"
model: models.mistreated:bent
weights: factory
inputs:
  x: {dtype: float32, shape: [batch, 6]}
dims: {batch: {min: 1, typical: 2, max: 3}}
formats: [pdmodel]
engines: [jit_load, paddle_inference_default]
device: cpu
"""


@pytest.fixture(scope="module")
def faulty(released: Path, digits: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A working folder with the digits' source, and a bundle whose batch norms were scaled: the first, the second."""
    place = tmp_path_factory.mktemp("faulty")
    shutil.copytree(released, place / "work", ignore=shutil.ignore_patterns("artifacts"))
    bundle = copied(digits, place / "work/bundle")
    # Sorted by name: batch_norm2d_0.b_0, .w_0, .w_1, .w_2, then those of the second norm.
    scale_tensor(bundle / "pdmodel/model.pdiparams", 3)
    scale_tensor(bundle / "pir/model.pdiparams", 6)
    reseal(bundle)
    return place / "work", bundle


def verify(bundle: Path, *more: str, cwd: Path) -> Any:
    done = exporter("verify", bundle, "--json", "--case", "batch=1", *more, cwd=cwd)
    assert done.code == 1, done.err
    return done.json()


def test_a_planted_fault_is_blamed_on_its_sublayer(faulty: tuple[Path, Path]) -> None:
    work, bundle = faulty
    report = verify(bundle, "--engines", "paddle_inference", "--repro", "repro", "--source", ".", cwd=work)
    assert report["verdict"] == "failed" and {one["case"] for one in report["checks"]} == {
        "batch=1",
        "batch=1:again",
        "batch=1:threads=2",
        "",
    }
    found = {one["claim"].partition("/")[0]: one for one in report["blame"]}
    assert {name: one["path"] for name, one in found.items()} == {"pdmodel": "norm1", "pir": "norm2"}
    forward = (ROOT / "recipes/digits.py").read_text().splitlines()
    for one in (found["pdmodel"], found["pir"]):
        assert one["located"] and not one["own_code"]
        file, _, line = one["line"].partition(":")
        assert one["class"] == "BatchNorm2D" and file == "recipes/digits.py" and one["path"] in forward[int(line) - 1]
        assert one["stage"] == "lower" and "does not store what was trained" in one["reason"]
        assert one["error_ratio"] > 100 and one["inputs_ratio"] < 4
    assert found["pdmodel"]["inputs"] == ["float32[1, 32, 8, 8]"]
    repro = work / found["pdmodel"]["repro"]
    readme = (repro / "README.md").read_text()
    command = next(line.strip() for line in readme.splitlines() if line.startswith("    "))
    assert command == f"exporter verify {bundle} --case batch=1 --engines paddle_inference"
    assert "There is no smaller part" in readme and not (repro / "part").exists()
    assert load(repro / "case.safetensors")["batch=1/input/image"].shape == (1, 1, 8, 8)


def test_the_page_draws_the_operator_that_errs_by_itself_and_leaves_the_graph_for_a_model_explorer(
    faulty: tuple[Path, Path],
) -> None:
    work, bundle = faulty
    verify(bundle, "--engines", "jit_load", "--source", ".", "--page", "page.html", cwd=work)
    page = (work / "page.html").read_text()
    assert page.count('class="own solid"') == 2, "one of each file"
    assert page.count("Wrong first: batch_norm_") >= 2 and "of norm1, recipes/digits.py:" in page
    values = {name: one["value"] for name, one in _json(work / "page.node-data.json")["results"].items()}
    (told,) = _json(work / "page.graph.json")
    dark = max(values, key=values.__getitem__)
    assert [node["label"] for node in told["nodes"] if node["id"] == dark] == ["batch_norm_"] and values[dark] > 16
    assert sorted(values.values())[-2] <= 1, "every other operator is right on right inputs"


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_without_the_source_it_says_why_nothing_is_localised(faulty: tuple[Path, Path]) -> None:
    work, bundle = faulty
    report = verify(bundle, "--engines", "jit_load", cwd=work)
    assert [one["located"] for one in report["blame"]] == [False, False]
    assert all("no source was given" in one["reason"] and "--source" in one["reason"] for one in report["blame"])


def test_a_sound_bundle_blames_nobody(released: Path, digits: Path) -> None:
    done = exporter(
        "verify", digits, "--json", "--case", "batch=1", "--engines", "onnxruntime", "--source", ".", cwd=released
    )
    assert done.code == 0 and done.json()["blame"] == []
    assert any("only the case batch=1" in note for note in done.json()["notes"])


def test_a_case_that_was_not_recorded_is_refused(released: Path, digits: Path) -> None:
    refused(exporter("verify", digits, "--case", "batch=7", cwd=released), 2, "no case 'batch=7'", "batch=33")
    refused(exporter("verify", digits, "--scramble", cwd=released), 2, "--repro")


def test_a_converters_mistake_is_blamed_on_the_lowering(tmp_path: Path) -> None:
    """paddle2onnx 2.1.0's own file of an LSTM with lengths is wrong; the exporter's own file of that LSTM is right."""
    bundle = bundle_of(FINDS["lstm"], tmp_path / "lstm")
    chosen = ("--engines", "onnxruntime", "--case", "batch=1", "--repro", "repro", "--source", str(ROOT))
    done = exporter("verify", bundle, "--json", *chosen, cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)))
    assert done.code == 1, done.err
    (blame,) = done.json()["blame"]
    assert (blame["path"], blame["class"]) == ("body", "LSTM") and blame["line"].startswith(
        "evals/finds/gate/networks.py:"
    )
    assert blame["stage"] == "lower" and "traced just now is right" in blame["reason"]
    assert "There is no smaller part" in (tmp_path / blame["repro"] / "README.md").read_text()


def test_an_engine_that_is_wrong_alone_is_the_stage_and_leaves_the_sublayer_that_fails_alone(tmp_path: Path) -> None:
    work = working_folder(tmp_path / "work")
    (work / "bent.yaml").write_text(BENT)
    assert exporter("release", "bent.yaml", cwd=work).code == 1
    failed = work / "artifacts/bent/failed"
    (blame,) = json.loads((failed / "parity.json").read_bytes())["blame"]
    assert (blame["path"], blame["class"], blame["stage"]) == ("filling", "Softplus", "engine")
    assert blame["claim"].startswith("pdmodel/paddle_inference_default/")
    assert blame["reason"] == "jit_load computes the same file right"
    part = work / blame["repro"] / "part"
    assert part.is_relative_to(failed) and replayed(part, work).returncode == 1
    done = exporter("verify", failed, "--repro", "shared", "--scramble", "--source", ".", cwd=work)
    assert done.code == 1, done.err
    (shared,) = (work / "shared").iterdir()
    again = replayed(shared / "part", work)
    assert again.returncode == 1 and "over the budget" in again.stdout
    assert not (shared / "case.safetensors").exists(), "what the model answered is not shared"


def replayed(part: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, part / "replay.py"], cwd=cwd, env=environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("model", "path", "own"), [("switch", "filling", False), ("switch_outside", "", True)])
def test_a_trace_that_takes_another_way_is_seen(
    model: str, path: str, own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = observed(model, tmp_path, monkeypatch)
    fresh = witness.program.values
    assert fresh is not None and not witness.sound(4.0)
    place, why_not = locate(witness, fresh, 4.0)
    assert place is not None, why_not
    assert (witness.observed.calls[place.call].path, place.own) == (path, own)


def test_an_overflow_inside_eager_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = observed("overflow", tmp_path, monkeypatch)
    place, why_not = locate_eager(witness.observed)
    assert place is not None, why_not
    assert witness.observed.calls[place.call].path == "filling"


def observed(model: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> Witness:
    monkeypatch.chdir(working_folder(place / "work"))
    golden, into = place / "golden.safetensors", place / "values"
    into.mkdir()
    x = np.random.default_rng(0).standard_normal((2, 6)).astype("float32")
    save(golden, {"case/input/x": x})
    inputs = (TensorSpec("x", "float32", ("batch", 6)),)
    source = SourceModel(f"models.mistreated:{model}", None, 0, inputs, ("y",), {})
    bench = Bench(place, golden, (), {}, ("y",), ("x",), source, "cpu", 4.0)
    return observe(bench, "case", into, Setting())


def test_folders_of_claims_are_safe_and_unlike() -> None:
    names = {
        folder_name(Claim("onnx", "fp32", "ort", case, "y"))
        for case in ("a b", "a/b", "a:b", "a#b", "../..", "x" * 300)
    }
    assert len(names) == 6
    assert all("/" not in name and not name.startswith(".") and len(name) < 120 for name in names)
