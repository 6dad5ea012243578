"""What needs no work is refused before any, and by every verb alike: `check` of a spec, `convert` and `release`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, exporter

SPEC = {
    "name": "sound",
    "model": "tests.models.sound:build",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
    "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
    "formats": ["onnx"],
    "engines": ["onnxruntime"],
}
INT8 = {"fp32": {}, "int8": {}}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"checkpoint": "nowhere.safetensors", "weights": None}, "no such checkpoint"),
        ({"engines": ["onnxruntyme"]}, "unknown engine 'onnxruntyme'"),
        ({"engines": ["jit_load"]}, "engine 'jit_load' runs none of the formats"),
        ({"formats": ["pir", "onnx"]}, "no engine runs the format 'pir'"),
        ({"targets": ["paddle_lite"]}, "'paddle_lite' has to load the artifacts"),
        ({"targets": ["paddle_inferense"]}, "unknown target 'paddle_inferense'"),
        ({"precisions": INT8}, "int8 has no samples to be calibrated with"),
        ({"depends": ["nothing/*.txt"]}, "'nothing/*.txt' names no file"),
        ({"waivers": [{"claim": "pdmodel/*", "reason": "long enough", "until": "2999-01-01"}]}, "names no claim"),
        ({"prune": {"flops": 0.5, "importance": "l3"}}, "unknown importance 'l3'"),
        ({"pipeline": None, "formats": ["pir"], "engines": ["jit_load"], "opset": 18}, "opset is about ONNX"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_spec_that_one_verb_refuses_every_verb_refuses_in_the_same_words(
    change: dict[str, Any], what: str, tmp_path: Path
) -> None:
    content = {name: value for name, value in {**SPEC, **change}.items() if value is not None}
    (tmp_path / "spec.yaml").write_text(json.dumps(content))
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    done = {verb: exporter(verb, "spec.yaml", "--json", cwd=tmp_path) for verb in ("check", "convert", "release")}
    errors = {verb: one.json()["error"] for verb, one in done.items()}
    assert {one.code for one in done.values()} == {2}, errors
    assert what in errors["release"]["what"]
    assert errors["check"] == errors["convert"] == errors["release"]
    assert not (tmp_path / "artifacts").exists()
