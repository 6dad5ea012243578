"""`exporter diff`: whether one bundle may take the place of another, and what is different at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from exporter.deploy.bench.compare import latencies
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
        content["provenance"]["packages"] = {"paddlepaddle": "3.3.2"}

    new = edited(bundle, tmp_path / "new", edit)
    done = exporter("diff", bundle, new, cwd=tmp_path)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert lines[1].startswith("new small 1.1.0, passed, digest ")
    assert "interface input image, axis 0: batch (1 to 9), was batch (1 to 5)" in lines
    assert "parameter 1 added: head.weight" in lines
    assert any(line.startswith("origin    packages") and "3.3.2" in line for line in lines)
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
    logits, levels = told["breaks"]
    assert logits.startswith(
        "the parameters are the same, and the numbers are not: logits, worst in case batch=5: 0.5 "
    )
    assert levels.endswith("levels, worst in case batch=1: 50.00% of the whole numbers differ")
    done = exporter("diff", bundle, new, cwd=tmp_path)
    assert done.code == 1 and done.out.splitlines()[-1] == f"INCOMPATIBLE: {logits}, and 1 more"
    assert "find what changed in the code or its arguments" in done.err
    content = json.loads((new / "manifest.json").read_bytes())
    faults.reseal(new, {**content, "parameters": {"head.weight": "0" * 64}})
    anew = exporter("diff", bundle, new, cwd=tmp_path)
    assert anew.code == 0, "a model that was trained anew computes something else, and may still be used"
    assert anew.out.splitlines()[-1].endswith(
        "its parameters are others, so that its numbers are, which nothing here judges"
    )


def test_rounding_is_no_drift_and_what_was_compared_is_said(bundle: Path, tmp_path: Path) -> None:
    def round_otherwise(tensors: dict[str, np.ndarray]) -> None:
        tensors["batch=5/eager/logits"] *= np.float32(1 + 1e-7)

    def edit(content: dict[str, Any]) -> None:
        content["spec"]["args"] = {"k": 7}

    new = edited(regilded(bundle, tmp_path / "between", round_otherwise), tmp_path / "new", edit)
    done = exporter("diff", bundle, new, cwd=tmp_path)
    assert done.code == 0, done.out
    assert done.out.splitlines()[-1].startswith(
        "compatible: whoever runs the old one can run the new one, without a change;"
    )
    assert done.out.splitlines()[-1].endswith("within its budget in all cases with the same inputs, 4")


def test_numbers_that_were_not_compared_are_none_that_hold(bundle: Path, tmp_path: Path) -> None:
    def other(tensors: dict[str, np.ndarray]) -> None:
        for name in [name for name in tensors if "/input/" in name]:
            tensors[name] += np.float32(1)

    told = exporter("diff", bundle, regilded(bundle, tmp_path / "new", other), "--json", cwd=tmp_path)
    assert told.code == 1 and told.json()["cases"] == 0
    assert told.json()["breaks"] == [
        f"the parameters are the same, and no number of output {name} was compared" for name in ("logits", "levels")
    ]


def retrained(bundle: Path, to: Path) -> Path:
    """Another training: other weights, other answers in 3 of the 10 rows, another metric, a larger file."""

    def change(tensors: dict[str, np.ndarray]) -> None:
        for case, rows in (("batch=5", [0, 2]), ("batch=1", [0])):
            scores = tensors[f"{case}/eager/logits"]
            scores[rows] = -scores[rows]  # no row has its highest score where its lowest is
        tensors["batch=2/eager/levels"][0, 0] += 1

    copy = regilded(bundle, to, change)
    (copy / "onnx/model.onnx").write_bytes(
        (copy / "onnx/model.onnx").read_bytes() + b"\x9a\x06\x03abc"
    )  # unknown field
    faults.reseal(copy)
    content = json.loads((copy / "manifest.json").read_bytes())
    content["parameters"] = {"head.weight": "1" * 64}
    content["provenance"] |= {"training": {"metric": {"accuracy": 0.975}}, "weights": {"sha256": "b" * 64}}
    content["spec"]["seed"] = 3
    faults.reseal(copy, content)
    return copy


def test_of_another_training_it_says_how_many_answers_flip(bundle: Path, tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["parameters"] = {"head.weight": "0" * 64}
        content["provenance"] |= {"training": {"metric": {"accuracy": 0.9}}, "weights": {"sha256": "a" * 64}}

    old, new = edited(bundle, tmp_path / "old", edit), retrained(bundle, tmp_path / "new")
    told = exporter("diff", old, new, "--json", cwd=tmp_path).json()
    assert "error" not in told, told
    assert told["retrained"] and told["breaks"] == []
    logits, levels = told["answers"]
    assert (logits["output"], logits["flipped"], logits["answers"]) == ("logits", 3, 10)
    assert logits["low"] < logits["share"] == 0.3 < logits["high"]
    assert (levels["output"], levels["flipped"], levels["answers"]) == ("levels", 1, 100)
    assert told["metrics"] == {"accuracy": [0.9, 0.975]}
    assert told["spec"] == {"seed": [None, 3]}
    was, now = told["sizes"]["onnx"]
    assert now == was + 6 and list(told["sizes"]) == ["onnx"]
    done = exporter("diff", old, new, cwd=tmp_path)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert "parameter 1 changed: head.weight" in lines
    assert any(line.startswith("answers   logits: 3 of 10 flip on the same inputs (30.00%; ") for line in lines)
    assert "metric    accuracy: 0.9000 -> 0.9750 (+0.0750), on the held-out data of each training" in lines
    assert "spec      seed: None -> 3" in lines
    assert "latency   not measured: a bundle records none, and --bench times both" in lines
    assert not any("error ratio" in line or line.startswith("origin    training.metric") for line in lines)


@pytest.mark.slow
def test_latency_is_compared_where_that_is_asked_for(bundle: Path, tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["version"] = "1.1.0"
        content["spec"]["version"] = "1.1.0"

    new = edited(bundle, tmp_path / "new", edit)
    told = exporter("diff", bundle, new, "--bench", "--json", "-q", cwd=tmp_path).json()
    runs = {f"{one['variant']}/{one['engine']}" for one in told["latency"]}
    assert {"onnx/onnxruntime", "pir/paddle_inference"} <= runs and told["not_timed"] == []
    assert all(0 < one["low"] <= one["times"] <= one["high"] for one in told["latency"])


def test_the_latency_of_a_round_is_that_of_all_sizes_and_of_many_their_median() -> None:
    def round_of(old: tuple[float, float], new: tuple[float, float]) -> tuple[Any, Any]:
        sizes = ("batch=1", "batch=8")
        both = [
            [
                SimpleNamespace(variant="onnx", engine="e", size=size, median=one)
                for size, one in zip(sizes, times, strict=True)
            ]
            for times in (old, new)
        ]
        both[1].append(
            SimpleNamespace(variant="pir", engine="e", size="batch=1", median=1.0)
        )  # only the new one has it
        return tuple(SimpleNamespace(measured=one) for one in both)  # type: ignore[return-value]

    rounds = [round_of((1, 1), (2, 8)), round_of((2, 1), (2, 1)), round_of((1, 1), (2, 2))]
    (found,) = latencies(rounds)
    assert (found.variant, found.engine, found.low) == ("onnx", "e", 1.0)
    assert (found.times, found.high) == (pytest.approx(2), pytest.approx(4))
    assert str(found) == "onnx/e: x2.00 of the old one's time, in rounds from x1.00 to x4.00; no difference is shown"


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
