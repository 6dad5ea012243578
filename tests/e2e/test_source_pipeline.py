"""A model that is a file, with steps around it and in its graph, and what works on its bundles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from exporter.base.tensors import load
from exporter.bundle.open import open_bundle
from tests.command import exporter
from tests.export.sources.networks import saved
from tests.steps.pictures import encoded, picture

#: What PaddleX writes beside a classifier; its list is both chains of the pipeline.
RUNTIMES = """
PreProcess:
  transform_ops:
  - ResizeImage: {size: [16, 16]}
  - NormalizeImage: {scale: 0.00392156862745098, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], order: ''}
  - ToCHWImage: null
PostProcess:
  Topk: {topk: 1}
"""
PIPELINE = """pipeline:
  samples: [samples/*.png]
  preprocess: {training: 'paddlex:net/inference.yml', deployment: 'paddlex:net/inference.yml'}
  postprocess: {training: [{topk: {k: 1}}], deployment: 'paddlex:net/inference.yml'}
"""
STEPPED = f"name: stepped\nversion: '1'\nsource: net\noutputs: [scores]\nformats: [pir, onnx]\n{PIPELINE}"
FOLDED = f"""name: folded
version: '1'
source: net
inputs: {{image: {{dtype: uint8, shape: [batch, height, width, 3], values: samples}}}}
dims: {{batch: {{min: 1, typical: 2, max: 4}}, height: {{min: 8, typical: 12, max: 20}}, width: {{min: 9, typical: 16, max: 24}}}}
outputs: [label, confidence, scores]
formats: [pir, onnx]
engines: [paddle_inference, onnxruntime]
{PIPELINE}  fold: true
"""  # noqa: E501 - YAML of one line


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program of a classifier, what its runtimes read, and pictures."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "samples").mkdir()
    saved("picture", folder / "net")
    (folder / "net/inference.yml").write_text(RUNTIMES)
    for number, light in enumerate((0.1, 0.5, 1, 3)):  # the untrained net gives dark ones another class
        lit = np.clip(picture(20, 24, seed=number) * light, 0, 255).astype(np.uint8)
        (folder / f"samples/{number}.png").write_bytes(encoded(lit).tobytes())
    (folder / "stepped.yaml").write_text(STEPPED)
    (folder / "folded.yaml").write_text(FOLDED)
    return folder


@pytest.fixture(scope="module")
def stepped(work: Path) -> Path:
    return released(work, "stepped")


@pytest.fixture(scope="module")
def folded(work: Path) -> Path:
    return released(work, "folded")


def released(work: Path, name: str) -> Path:
    done = exporter("release", f"{name}.yaml", "--json", cwd=work)
    assert done.code == 0, done.out + done.err
    return work / done.json()["bundle"]


def checks(bundle: Path) -> list[dict[str, str]]:
    return list(json.loads((bundle / "parity.json").read_text())["checks"])


def test_the_steps_of_its_runtimes_are_compared_and_its_values_are_what_they_give(stepped: Path) -> None:
    manifest = open_bundle(stepped).manifest
    assert manifest.verdict == "passed"
    compared = {(check["kind"], check["format"], check["engine"]) for check in checks(stepped)}
    assert {("pipeline", "source", ""), ("pipeline", "onnx", "onnxruntime"), ("outputs", "source", "file")} <= compared
    cases = load(stepped / "golden.safetensors")
    drawn = cases["batch=2/input/x"]
    assert drawn.min() >= -1 and drawn.max() <= 1 and drawn.std() > 0.4


def test_steps_are_folded_into_a_file_which_itself_is_run_between_them(folded: Path) -> None:
    manifest = open_bundle(folded).manifest
    assert [(spec.name, spec.dtype) for spec in manifest.inputs] == [("image", "uint8")]
    compared = {(check["kind"], check["engine"], check["output"]) for check in checks(folded)}
    assert {("folded", "eager", "ready"), ("folded", "eager", "answer"), ("outputs", "file", "label")} <= compared
    equal = [check for check in checks(folded) if (check["kind"], check["engine"]) == ("outputs", "file")]
    assert all(check["outcome"] == "match" for check in equal)
    assert load(folded / "golden.safetensors")["batch=2,height=12,width=16/eager/label"].dtype == np.int64


@pytest.mark.parametrize("name", ["stepped", "folded"])
def test_what_works_on_bundles_works_on_those_of_files(name: str, work: Path, request: pytest.FixtureRequest) -> None:
    bundle: Path = request.getfixturevalue(name)
    for command in (["verify", bundle], ["verify", bundle, "--source", "."], ["bench", bundle], ["inspect", bundle]):
        done = exporter(*command, cwd=work)
        assert done.code == 0, done.out + done.err
    same = exporter("diff", bundle, bundle, cwd=work)
    assert same.code == 0 and "the same bundle" in same.out
    handed = exporter("handoff", bundle, "--to", "plain", "--out", f"plain-{name}", cwd=work)
    assert handed.code == 0 and "verified here: yes" in handed.out, handed.out + handed.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stepped", "folded"])
def test_the_faults_of_a_drill_are_caught(name: str, work: Path, request: pytest.FixtureRequest) -> None:
    done = exporter("drill", request.getfixturevalue(name), "--source", ".", cwd=work)
    assert done.code == 0 and " 0 survived" in done.out, done.out + done.err


def test_a_bundle_of_a_file_goes_back_to_the_runtimes_that_it_came_from(stepped: Path, work: Path) -> None:
    done = exporter("handoff", stepped, "--to", "paddlex", "--out", "back", "--json", cwd=work)
    assert done.code == 0, done.out + done.err
    assert "NormalizeImage" in (work / "back/inference.yml").read_text()


def test_the_gate_passes_both(stepped: Path, folded: Path, work: Path) -> None:
    del stepped, folded
    done = exporter("gate", "stepped.yaml", "folded.yaml", "--out", "gated", "--json", cwd=work)
    assert done.code == 0, done.out + done.err
