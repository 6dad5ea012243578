"""`exporter diff`: whether one bundle may take the place of another, and what is different at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests import faults
from tests.command import exporter, refused


def edited(bundle: Path, to: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """A copy whose manifest says something else, sealed again."""
    copy = faults.copied(bundle, to)
    content = json.loads((copy / "manifest.json").read_bytes())
    edit(content)
    faults.reseal(copy, content)
    return copy


def regilded(bundle: Path, to: Path, change: Callable[[dict[str, np.ndarray]], None]) -> Path:
    """A copy whose goldens hold something else, sealed again."""
    copy = faults.copied(bundle, to)
    tensors = load_file(copy / "golden.safetensors")
    change(tensors)
    save_file(tensors, copy / "golden.safetensors")
    faults.reseal(copy)
    return copy


def test_a_bundle_and_itself(bundle: Path, tmp_path: Path) -> None:
    done = exporter("diff", bundle, bundle, cwd=tmp_path)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "the same bundle: the digests are equal"


def test_a_wider_dim_and_other_origin_are_told_and_compatible(bundle: Path, tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["version"] = "1.1.0"
        content["dims"]["batch"]["max"] = 9
        content["parameters"] = {"head.weight": "0" * 64}
        content["provenance"] = {"packages": {"paddlepaddle": "3.3.2"}}

    new = edited(bundle, tmp_path / "new", edit)
    done = exporter("diff", bundle, new, cwd=tmp_path)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert lines[1].startswith("new small 1.1.0, passed, digest ")
    assert "interface input image, axis 0: batch (1 to 9), was batch (1 to 5)" in lines
    assert "parameter 1 added: head.weight" in lines
    assert "origin    packages: None -> {'paddlepaddle': '3.3.2'}" in lines
    assert lines[-1].startswith("compatible: ")
    told = exporter("diff", bundle, new, "--json", cwd=tmp_path).json()
    assert (told["breaks"], told["same"], told["new"]["version"]) == ([], False, "1.1.0")
    assert told["parameters"] == {"added": ["head.weight"], "removed": [], "changed": []}
    assert {one["output"]: one["why"] for one in told["drift"]} == {"logits": "", "levels": ""}


def without_levels(content: dict[str, Any]) -> None:
    content["outputs"] = [one for one in content["outputs"] if one["name"] == "logits"]
    for variant in content["variants"].values():
        variant["outputs"] = variant["native_outputs"] = variant["native_outputs"][:1]
    for case in content["cases"]:
        del case["outputs"]["levels"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda content: content.update(dims={"batch": {"min": 1, "typical": 2, "max": 4}}),
            "batch (1 to 4), was batch (1 to 5)",
        ),
        (lambda content: content.update(verdict="failed"), "the verdict of the new bundle is failed"),
        (without_levels, "output levels is gone"),
    ],
)
def test_what_a_consumer_would_notice_exits_1(
    bundle: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    new = edited(bundle, tmp_path / "new", change)
    done = exporter("diff", bundle, new, cwd=tmp_path)
    assert (done.code, done.out.splitlines()[-1].startswith("INCOMPATIBLE: ")) == (1, True)
    assert said in done.out


def test_drift_of_the_goldens_is_measured(bundle: Path, tmp_path: Path) -> None:
    """Eager of the new against the float64 truth of the old: one case of floats, one of whole numbers."""

    def drift(tensors: dict[str, np.ndarray]) -> None:
        tensors["batch=5/eager/logits"] *= np.float32(1.5)
        tensors["batch=1/eager/levels"][0, :5] += 1

    new = regilded(bundle, tmp_path / "new", drift)
    told = exporter("diff", bundle, new, "--json", cwd=tmp_path).json()
    found = {one["output"]: one for one in told["drift"]}
    assert found["logits"]["case"] == "batch=5"
    assert found["logits"]["relative"] == pytest.approx(0.5, rel=1e-4) and found["logits"]["ratio"] > 1e4
    assert (found["levels"]["case"], found["levels"]["differing"]) == ("batch=1", 0.5)
    assert told["breaks"] == [], "a model that was trained anew computes something else, and may still be used"
    said = exporter("diff", bundle, new, cwd=tmp_path).out
    assert "levels, worst in case batch=1: 50.00% of the whole numbers differ" in said


def test_cases_with_other_inputs_are_not_compared_and_that_is_said(bundle: Path, tmp_path: Path) -> None:
    def other(tensors: dict[str, np.ndarray]) -> None:
        tensors["batch=2/input/image"] += np.float32(1)

    told = exporter("diff", bundle, regilded(bundle, tmp_path / "new", other), "--json", cwd=tmp_path).json()
    assert told["notes"] == ["1 of 4 common cases have other inputs and were not compared"]
    assert "batch=2" not in {one["case"] for one in told["drift"]}


def test_operators_are_counted(bundle: Path, tmp_path: Path) -> None:
    new = faults.copied(bundle, tmp_path / "new")
    program = new / "pir/model.json"
    assert program.read_text().count('"1.relu"') == 1
    program.write_text(program.read_text().replace('"1.relu"', '"1.tanh"'))
    faults.reseal(new)
    told = exporter("diff", bundle, new, "--json", cwd=tmp_path).json()
    assert told["operators"] == {"onnx": {}, "pdmodel": {}, "pir": {"relu": [1, 0], "tanh": [0, 1]}}


def test_no_bundle_is_2_and_a_damaged_one_5(bundle: Path, tmp_path: Path) -> None:
    refused(exporter("diff", bundle, tmp_path / "nix", cwd=tmp_path), 2, "nix", "no such bundle")
    new = faults.copied(bundle, tmp_path / "new")
    faults.flip_bit(new / "onnx/model.onnx", 99)
    refused(exporter("diff", bundle, new, cwd=tmp_path), 5, "onnx/model.onnx")


def test_names_from_a_bundle_cannot_write_to_the_terminal(bundle: Path, tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["parameters"] = {"\x1b[2Jfc": "0" * 64}

    assert "\x1b" not in exporter("diff", bundle, edited(bundle, tmp_path / "new", edit), cwd=tmp_path).out
