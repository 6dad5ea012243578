"""What no input decides is judged as the constant that it is, through the command line; what one decides is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

from exporter.base.readers.undecided import undecided
from tests import faults
from tests.command import Done, exporter
from tests.described import small
from tests.e2e.test_resealed_faults import forged

FORMATS = ["pir", "pdmodel", "onnx"]
FILES = ("pir/model.json", "pdmodel/model.pdmodel", "onnx/model.onnx")


def described(model: str, **keys: Any) -> dict[str, Any]:
    engines = ["jit_load", "paddle_inference", "onnxruntime"]
    return small(f"models.returned:{model}", weights="factory", formats=FORMATS, engines=engines, **keys)


def release(model: str, place: Path) -> Done:
    (place / "small.yaml").write_text(json.dumps(described(model)))
    return exporter("release", "small.yaml", "--json", cwd=place)


def checks(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done.json()["checks"]
    return found


@pytest.fixture
def bundle(workplace: Path) -> Path:
    """A release of a layer that gives its buffers and a parameter."""
    done = release("Returned", workplace)
    assert done.code == 0, done.out + done.err
    return workplace / done.json()["bundle"]


def test_they_pass_in_every_format_and_a_lie_about_them_is_found(bundle: Path, tmp_path: Path) -> None:
    constants = [f"output_{at}" for at in range(1, 6)]
    assert json.loads((bundle / "manifest.json").read_bytes())["constants"] == constants
    assert {undecided(bundle / file) for file in FILES} == {frozenset(constants)}
    verified = exporter("verify", bundle, "--json", cwd=tmp_path)
    assert (verified.code, {one["outcome"] for one in checks(verified)}) == (0, {"match"}), verified.err
    said = [note for note in verified.json()["notes"] if "it was judged as a constant" in note]
    assert len(said) == len(constants)
    for name, change, why in LIES:
        copy = faults.copied(bundle, tmp_path / name)
        change(copy)
        forged(copy)
        done = exporter("verify", copy, "--json", cwd=tmp_path)
        wrong = {one["format"]: one["reason"] for one in checks(done) if one["kind"] == "interface" and one["reason"]}
        assert done.code == 1 and why in wrong.get("onnx", ""), (name, done.err)


def _says_that_the_computed_is_constant(bundle: Path) -> None:
    manifest = bundle / "manifest.json"
    content = json.loads(manifest.read_bytes())
    content["constants"] = ["output_0", *content["constants"]]
    for case in content["cases"]:
        case["outputs"]["output_0"]["constant"] = True
    manifest.write_text(json.dumps(content))


def _adds_what_the_input_decides(bundle: Path) -> None:
    """Nothing, for every recorded input."""
    path = bundle / "onnx/model.onnx"
    model = onnx.load(path)
    graph, given = model.graph, "output_2"
    for node in graph.node:
        node.output[:] = [f"{name}.before" if name == given else name for name in node.output]
    large = onnx.numpy_helper.from_array(_number(1e30), "large")
    graph.initializer.append(large)
    graph.node.extend(
        [
            helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
            helper.make_node("Greater", ["most", "large"], ["far"]),
            helper.make_node("Cast", ["far"], ["more"], to=1),
            helper.make_node("Add", [f"{given}.before", "more"], [given]),
        ]
    )
    onnx.save(model, path)


def _number(value: float) -> Any:
    import numpy as np

    return np.array(value, "float32")


LIES: tuple[tuple[str, Callable[[Path], None], str], ...] = (
    ("said", _says_that_the_computed_is_constant, "no input decides output 'output_0' of the model"),
    ("led", _adds_what_the_input_decides, "no input decides output 'output_2' of the model"),
)


def test_what_an_input_decides_is_none(workplace: Path) -> None:
    (workplace / "small.yaml").write_text(json.dumps(described("Chosen")))
    done = exporter("convert", "small.yaml", "--out", "out", "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    assert {undecided(workplace / "out" / file) for file in FILES} == {frozenset(["output_3"])}


def test_a_dead_unit_is_not_taken_for_a_constant(workplace: Path) -> None:
    done = release("Dead", workplace)
    assert done.code == 1 and done.json()["verdict"] == "inconclusive", done.out + done.err


def test_of_a_constant_that_is_zero_nothing_is_proven_and_the_rest_is_judged(workplace: Path) -> None:
    done = release("Zero", workplace)
    assert done.code == 1 and done.json()["verdict"] == "inconclusive", done.out + done.err
    report = json.loads(next((workplace / "artifacts/small/failed").glob("**/parity.json")).read_bytes())
    numbers = [one for one in report["checks"] if one["kind"] == "outputs"]
    by_output = {
        name: {one["outcome"] for one in numbers if one["output"] == name} for name in ("output_0", "output_1")
    }
    assert by_output == {"output_0": {"match"}, "output_1": {"inconclusive"}}
    assert all(
        "no input reaches it, and it is zero throughout" in one["reason"]
        for one in numbers
        if one["output"] == "output_1"
    )
