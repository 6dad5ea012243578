"""Each operator at its own inputs: a sound file is right throughout, and a fault is named without the source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import pytest

from exporter.base.tensors import TensorSpec, save
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.process.job import from_json, to_json
from exporter.prove.root_cause.operators.child import judge
from exporter.prove.root_cause.operators.judge import JudgeAnswer, JudgeRequest, first_wrong
from tests.command import exporter
from tests.conftest import working_folder
from tests.export.lower.test_onnx_program import Small, X, traced_to_pir
from tests.faults import copied, reseal

SPEC = """
name: written
version: "1"
model: recipes.digits:build
weights: factory
inputs:
  image: {dtype: float32, shape: [batch, 1, 8, 8]}
dims: {batch: {min: 1, typical: 2, max: 3}}
formats: [pir, onnx]
engines: [jit_load, onnxruntime]
device: cpu
"""
Y = TensorSpec("x", "float32", (4, 6))


class InPlace(paddle.nn.Layer):
    """Writes into what later operators read, and cuts a tensor into a list."""

    def forward(self, x: Any) -> Any:
        y = x * 2.0
        left, right = paddle.split(y, 2, axis=1)
        y[:, 0] = 0.25
        return y.cumsum(1)[:, :3] + paddle.nn.functional.relu_(left * 3.0) * right


def judged(layer: Any, spec: TensorSpec, folder: Path, change: Callable[[Any], None] | None = None) -> Any:
    """Every operator of a layer's file; `change` damages the file before."""
    traced_to_pir(layer, folder, (spec,))
    wish = Wish(inputs=(spec,))
    onnx_format.write(None, folder / "pir", folder / "onnx", wish)
    sizes = [size if isinstance(size, int) else 2 for size in spec.shape]
    golden, file = folder / "golden.safetensors", folder / "onnx/model.onnx"
    save(golden, {"case/input/x": np.random.default_rng(0).standard_normal(sizes).astype("float32")})
    if change is not None:
        model = onnx.load(str(file))
        change(model)
        onnx.save(model, str(file))
    answer = judge(JudgeRequest(folder / "pir", file, golden, "case", 4.0))
    return from_json(JudgeAnswer, to_json(JudgeAnswer, answer)).operators


def test_a_sound_file_is_right_operator_by_operator_in_branches_and_loops_too(tmp_path: Path) -> None:
    found = judged(Small(), X, tmp_path)
    assert not [str(one) for one in found if not one.judged or one.wrong(4.0)]
    names = [one.name for one in found]
    assert {"conv2d", "relu", "if", "while", "set_value", "less_than"} <= set(names)
    (conv,) = (one for one in found if one.name == "conv2d")
    assert conv.nodes == ("Conv.0",) and "batch_norm_" in conv.folded and conv.sublayer.startswith("Conv2D")
    inside = [one for one in found if found.index(one) > names.index("matmul") and one.name == "scale"]
    assert len(inside) == 3, "one in the branch that is taken, two in the loop"


def test_what_was_written_in_place_is_read_as_it_is_then(tmp_path: Path) -> None:
    found = judged(InPlace(), Y, tmp_path)
    assert not [str(one) for one in found if not one.judged or one.wrong(4.0)]
    assert {"set_value", "cumsum", "multiply"} <= {one.name for one in found}


class Equals(paddle.nn.Layer):
    """Chooses between equal numbers, as Paddle and ONNX Runtime each do in their own way."""

    def forward(self, x: Any) -> Any:
        few = paddle.round(x * 0.5)
        return paddle.topk(few, 2, axis=0)[1] + paddle.argsort(few, axis=1)[:2] + paddle.kthvalue(few, 2, axis=0)[1]


def test_another_choice_between_equal_recorded_values_is_no_fault(tmp_path: Path) -> None:
    found = judged(Equals(), TensorSpec("x", "float32", (24, 6)), tmp_path)
    chosen = {one.name: one for one in found if one.name in ("topk", "argsort", "kthvalue")}
    assert len(chosen) == 3 and not [str(one) for one in found if one.wrong(4.0)]


def test_a_fault_in_a_choice_is_found_where_no_two_values_are_equal(tmp_path: Path) -> None:
    def smallest(model: Any) -> None:
        (node, *_) = (node for node in model.graph.node if node.op_type == "TopK")
        node.attribute.append(onnx.helper.make_attribute("largest", 0))

    class Top(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.topk(x, 2)[1]

    blamed = first_wrong(judged(Top(), Y, tmp_path, smallest), 4.0)
    assert blamed is not None and blamed.name == "topk"


def test_a_fault_in_a_branch_is_found_in_it(tmp_path: Path) -> None:
    def add_instead(model: Any) -> None:
        (choice,) = (node for node in model.graph.node if node.op_type == "If")
        branch = next(one.g for one in choice.attribute if one.name == "then_branch")
        (product,) = (node for node in branch.node if node.op_type == "Mul")
        product.op_type = "Add"

    found = judged(Small(), X, tmp_path, add_instead)
    blamed = first_wrong(found, 4.0)
    assert blamed is not None and blamed.name == "scale"
    assert {one.name for one in found if one.wrong(4.0)} <= {"scale", "if"}


def test_a_node_that_reads_another_value_is_found(tmp_path: Path) -> None:
    def from_before(model: Any) -> None:
        (relu,) = (node for node in model.graph.node if node.op_type == "Relu")
        (mean,) = (node for node in model.graph.node if node.op_type == "ReduceMean")
        mean.input[0] = relu.input[0]

    blamed = first_wrong(judged(Small(), X, tmp_path, from_before), 4.0)
    assert blamed is not None and (blamed.name, blamed.nodes) == ("mean", ("ReduceMean.0",))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose ONNX file was written from the program."""
    work = working_folder(tmp_path_factory.mktemp("written") / "work")
    (work / "written.yaml").write_text(SPEC)
    done = exporter("release", "written.yaml", "--json", cwd=work)
    assert done.code == 0, done.err
    return work / json.loads(done.out)["bundle"]


@pytest.mark.parametrize("source", [False, True], ids=["alone", "with the source"])
def test_verify_names_the_operator_to_blame(bundle: Path, source: bool, tmp_path: Path) -> None:
    damaged = copied(bundle, tmp_path / "damaged")
    model = onnx.load(str(damaged / "onnx/model.onnx"))
    second = [node for node in model.graph.node if node.op_type == "Relu"][1]
    second.op_type = "Abs"
    onnx.save(model, str(damaged / "onnx/model.onnx"))
    reseal(damaged)
    work = bundle.parents[2]
    more = ("--source", ".") if source else ()
    done = exporter("verify", damaged, "--json", "--case", "batch=1", "--engines", "onnxruntime", *more, cwd=work)
    assert done.code == 1, done.err
    (blame,) = done.json()["blame"]
    assert blame["located"] and blame["stage"] == "lower"
    assert "operator relu (number " in blame["reason"] and f"nodes {second.name}:" in blame["reason"]
    assert source == bool(blame["line"])
