"""What sizes decide is judged by sizes, through the command line; what values decide has to tell by values."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.base.readers.undecided import Reach, reach
from tests import faults
from tests.command import Done, exporter
from tests.described import small
from tests.e2e.test_resealed_faults import forged

FILES = ("pir/model.json", "pdmodel/model.pdmodel", "onnx/model.onnx")


def release(model: str, place: Path, **keys: Any) -> Done:
    engines = ["jit_load", "paddle_inference", "onnxruntime"]
    spec = small(
        f"models.sized:{model}", weights="factory", formats=["pir", "pdmodel", "onnx"], engines=engines, **keys
    )
    (place / "small.yaml").write_text(json.dumps(spec))
    return exporter("release", "small.yaml", "--json", cwd=place)


def of_output(done: Done, name: str) -> list[Mapping[str, Any]]:
    return [check for check in done.json()["checks"] if check["output"] == name]


@pytest.fixture
def bundle(workplace: Path) -> Path:
    """A release of a layer whose outputs sizes decide."""
    done = release("Masks", workplace)
    assert done.code == 0, done.out + done.err
    return workplace / done.json()["bundle"]


def _another_number(graph: onnx.GraphProto) -> None:
    graph.node.extend([helper.make_node("Mul", ["output_1.before", "factor"], ["output_1"])])
    graph.initializer.append(numpy_helper.from_array(_number(1.01), "factor"))


def _one_at_size_four(graph: onnx.GraphProto) -> None:
    """Zero, but for the largest size."""
    nodes = [
        helper.make_node("Size", ["x"], ["size"]),
        helper.make_node("Cast", ["size"], ["real"], to=1),
        helper.make_node("Greater", ["real", "factor"], ["far"]),
        helper.make_node("Cast", ["far"], ["more"], to=1),
        helper.make_node("Add", ["output_2.before", "more"], ["output_2"]),
    ]
    graph.node.extend(nodes)
    graph.initializer.append(numpy_helper.from_array(_number(12.5), "factor"))


def _constant(graph: onnx.GraphProto) -> None:
    """As wide as one case has it, at all sizes."""
    graph.node.extend([helper.make_node("Identity", ["held"], ["output_3"])])
    graph.initializer.append(numpy_helper.from_array(_number(-1e4).repeat(16).reshape(4, 4), "held"))


def _led_by_values(graph: onnx.GraphProto) -> None:
    """The same for every recorded input."""
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
        helper.make_node("Greater", ["most", "factor"], ["far"]),
        helper.make_node("Cast", ["far"], ["more"], to=1),
        helper.make_node("Add", ["output_5.before", "more"], ["output_5"]),
    ]
    graph.node.extend(nodes)
    graph.initializer.append(numpy_helper.from_array(_number(1e30), "factor"))


def _number(value: float) -> Any:
    import numpy as np

    return np.array(value, "float32")


FAULTS: tuple[tuple[str, Callable[[onnx.GraphProto], None]], ...] = (
    ("output_1", _another_number),
    ("output_2", _one_at_size_four),
    ("output_3", _constant),
    ("output_5", _led_by_values),
)


def test_what_sizes_decide_passes_in_every_format_and_a_fault_in_it_is_found(bundle: Path, tmp_path: Path) -> None:
    sized = [f"output_{at}" for at in range(1, 6)]
    assert json.loads((bundle / "manifest.json").read_bytes())["sized"] == sized
    wanted = {"output_0": Reach.VALUES, **dict.fromkeys(sized, Reach.SIZES)}
    assert [reach(bundle / file) for file in FILES] == [wanted] * len(FILES)
    ran = subprocess.run([sys.executable, bundle / "verify.py"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for name, change in FAULTS:
        copy = faults.copied(bundle, tmp_path / name)
        model = onnx.load(copy / "onnx/model.onnx")
        for node in model.graph.node:
            node.output[:] = [f"{name}.before" if output == name else output for output in node.output]
        change(model.graph)
        onnx.save(model, copy / "onnx/model.onnx")
        forged(copy)
        done = exporter("verify", copy, "--json", "--engines", "onnxruntime", cwd=tmp_path)
        assert done.code == 1, (name, done.out, done.err)
        if change is _led_by_values:
            said = [check["reason"] for check in done.json()["checks"] if check["kind"] == "interface"]
            assert f"sizes alone decide output '{name}' of the model, and in this file values lead to it" in said
        else:
            wrong = {check["case"] for check in of_output(done, name) if check["outcome"] == "mismatch"}
            assert wrong, (name, done.err)


def test_a_count_is_decided_by_sizes_behind_what_resizes_samples_and_chooses(workplace: Path) -> None:
    done = release("Counted", workplace)
    assert done.code == 0, done.out + done.err
    bundle = workplace / done.json()["bundle"]
    wanted = {"output_0": Reach.VALUES, "output_1": Reach.SIZES}
    assert [reach(bundle / file) for file in FILES] == [wanted] * len(FILES)


def test_a_size_at_which_there_is_nothing_to_tell_is_judged_by_the_others(workplace: Path) -> None:
    done = release("OneRow", workplace)
    assert done.code == 0, done.out + done.err
    notes = json.loads((workplace / done.json()["bundle"] / "parity.json").read_bytes())["notes"]
    assert "output 'output_0' is one number throughout in batch=1, whatever the inputs hold" in notes


def test_inputs_that_tell_nothing_by_chance_are_drawn_again(workplace: Path) -> None:
    inputs = {"u": {"dtype": "uint8", "shape": ["batch", 4], "values": "integers(0,9)"}}
    done = release("Rare", workplace, inputs=inputs)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("AlwaysTheSame", "give a dim that decides it another size"),
        ("Beyond", "is zero or near the denormals"),
    ],
)
def test_what_never_differs_stays_unproven(model: str, reason: str, workplace: Path) -> None:
    done = release(model, workplace)
    assert (done.code, done.json()["verdict"]) == (1, "inconclusive"), done.out + done.err
    report = json.loads(next((workplace / "artifacts/small/failed").glob("**/parity.json")).read_bytes())
    said = [check for check in report["checks"] if check["kind"] == "outputs" and check["output"] == "output_1"]
    assert {check["outcome"] for check in said} == {"inconclusive"}
    assert any(reason in check["reason"] for check in said), said[:2]
